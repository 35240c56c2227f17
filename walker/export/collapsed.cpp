#include "walker/export/collapsed.h"

#include <fmt/format.h>

#include <unordered_map>
#include <vector>

#include "walker/base/printable.h"
#include "walker/export/buffered_sink.h"

namespace mixwalk {
namespace {

// The limit for one frame. The longest generic names of real programs are shorter.
constexpr std::size_t kMaxNameBytes = 16'384;

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text, kMaxNameBytes)) {
    if (c == ';') {
      out += "\\x3b";
    } else {
      out += c;
    }
  }
  return out;
}

std::string_view mark(const Frame* frame) {
  if (frame == nullptr) return "";
  if (frame->inline_depth != 0) return "_[i]";
  return frame->kind == FrameKind::managed ? "_[j]" : "";
}

// Stacks whose frames have equal labels become one stack, wherever in their functions the frames are.
class Folded {
 public:
  Folded(const ShownStacks& stacks, bool annotate) {
    std::vector<std::uint32_t> texts;
    std::unordered_map<std::string, std::uint32_t> known;
    for (const ShownStacks::Frame& frame : stacks.frames()) {
      std::string text = escaped(frame.label);
      if (annotate) text += mark(frame.frame);
      const auto [at, added] = known.emplace(text, static_cast<std::uint32_t>(texts_.size()));
      if (added) texts_.push_back(std::move(text));
      texts.push_back(at->second);
    }
    std::unordered_map<std::uint64_t, std::uint32_t> paths;  // parent << 32 | text
    for (const Recording::Node& node : stacks.nodes()) {
      const Recording::Node path{
          node.parent == Recording::kNone ? Recording::kNone : path_[node.parent],
          texts[node.frame]};
      const std::uint64_t key = std::uint64_t{path.parent} << 32 | path.frame;
      const auto [at, added] = paths.emplace(key, static_cast<std::uint32_t>(paths_.size()));
      if (added) paths_.push_back(path);
      path_.push_back(at->second);
    }
  }

  std::uint32_t path_of(std::uint32_t node) const { return path_[node]; }

  std::string line(std::uint32_t path) const {
    std::vector<std::uint32_t> leaf_first;
    for (; path != Recording::kNone; path = paths_[path].parent) {
      leaf_first.push_back(paths_[path].frame);
    }
    std::string text;
    for (auto frame = leaf_first.rbegin(); frame != leaf_first.rend(); ++frame) {
      if (!text.empty()) text += ';';
      text += texts_[*frame];
    }
    return text;
  }

 private:
  std::vector<std::string> texts_;
  std::vector<Recording::Node> paths_;  // Node::frame is an index into texts_
  std::vector<std::uint32_t> path_;     // the path of each node
};

}  // namespace

bool write_collapsed(const ShownRecording& shown, ByteSink& sink, const CollapsedOptions& options) {
  const Recording& recording = shown.recording;
  const Folded folded(shown.stacks, options.annotate);
  std::vector<std::uint32_t> paths;
  paths.reserve(recording.samples.size());
  for (const std::uint32_t leaf : shown.stacks.leaves()) paths.push_back(folded.path_of(leaf));
  BufferedSink out(sink);
  for (const SampleSum& sum : sum_samples(recording, paths, options.threads)) {
    std::string text;
    if (options.threads) text = escaped(shown.threads[sum.thread].label) + ";";
    if (!out.write(fmt::format("{}{} {}\n", text, folded.line(sum.stack), sum.value))) return false;
  }
  if (recording.samples.empty()) out.write(fmt::format("{} 0\n", kNoSamples));
  return out.flush();
}

}  // namespace mixwalk
