#include "walker/export/speedscope.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "walker/export/json_writer.h"

namespace mixwalk {
namespace {

class SpeedscopeWriter {
 public:
  SpeedscopeWriter(const ShownRecording& shown, ByteSink& sink)
      : shown_(shown), recording_(shown.recording), stacks_(shown.stacks), json_(sink) {}

  bool write() {
    json_.begin_object();
    json_.field("$schema", "https://www.speedscope.app/file-format-schema.json");
    json_.field("exporter", "mixwalk " + recording_.tool_version);
    json_.field("name", fmt::format("{} ({})", module_name({.path = recording_.process.path}),
                                    recording_.process.id));
    frames();
    profiles();
    json_.end_object();
    return json_.finish();
  }

 private:
  // Frames with equal labels in one image are one frame. Otherwise every call site would be a separate frame.
  void frames() {
    json_.key("shared");
    json_.begin_object();
    json_.key("frames");
    json_.begin_array();
    std::map<std::pair<std::string, std::int32_t>, std::uint32_t> known;
    for (const ShownStacks::Frame& frame : stacks_.frames()) {
      const std::int32_t module = frame.frame == nullptr ? Frame::kNone : frame.frame->module;
      const auto [at, added] =
          known.try_emplace({frame.label, module}, static_cast<std::uint32_t>(known.size()));
      frame_.push_back(at->second);
      if (!added) continue;
      json_.begin_object();
      json_.field("name", frame.label);
      if (module != Frame::kNone) {
        json_.field("file", recording_.modules[static_cast<std::size_t>(module)].path);
      }
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
    equal_ = equal_nodes(stacks_.nodes(), frame_);
  }

  void profiles() {
    json_.key("profiles");
    json_.begin_array();
    const auto by_thread = samples_by_thread(recording_);
    for (std::size_t thread = 0; thread < by_thread.size(); ++thread) {
      // speedscope shows a profile without samples as an empty graph, so threads without samples
      // have none.
      if (!by_thread[thread].empty()) profile(shown_.threads[thread].label, by_thread[thread]);
    }
    // But a document without profiles is refused as a whole, with words that do not say why.
    if (recording_.samples.empty()) profile(std::string(kNoSamples), {});
    json_.end_array();
  }

  // Consecutive samples of one thread with the same stack. They become one sample, since speedscope reads a stack for
  // each sample. A thread that waits for an hour has 360,000 of them at 100 Hz.
  struct Neighbours {
    std::uint32_t node = 0;  // index into ShownStacks::nodes()
    std::uint64_t weight = 0;
  };

  std::vector<Neighbours> merged(const std::vector<std::uint32_t>& samples) const {
    std::vector<Neighbours> merged;
    for (const std::uint32_t sample : samples) {
      const std::uint32_t node = equal_[stacks_.leaves()[sample]];
      if (merged.empty() || merged.back().node != node) merged.push_back({node});
      merged.back().weight = sum(merged.back().weight, recording_.samples[sample].value);
    }
    return merged;
  }

  void profile(const std::string& name, const std::vector<std::uint32_t>& samples) {
    const std::vector<Neighbours> merged = this->merged(samples);
    std::uint64_t total = 0;
    for (const Neighbours& neighbours : merged) total = sum(total, neighbours.weight);
    json_.begin_object();
    json_.field("type", "sampled");
    json_.field("name", name);
    json_.field("unit", shown_.timed ? "nanoseconds" : "none");
    json_.field("startValue", 0);
    json_.field("endValue", total);
    json_.key("samples");
    json_.begin_array();
    for (const Neighbours& neighbours : merged) stack(neighbours.node);
    json_.end_array();
    json_.key("weights");
    json_.begin_array();
    for (const Neighbours& neighbours : merged) json_.value(neighbours.weight);
    json_.end_array();
    json_.end_object();
  }

  // The sum, or the largest number if the sum is larger.
  static std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
    return a + std::min(b, std::numeric_limits<std::uint64_t>::max() - a);
  }

  void stack(std::uint32_t node) {
    path_.clear();
    for (; node != Recording::kNone; node = stacks_.nodes()[node].parent) {
      path_.push_back(frame_[stacks_.nodes()[node].frame]);
    }
    json_.begin_array();
    for (auto frame = path_.rbegin(); frame != path_.rend(); ++frame) json_.value(*frame);
    json_.end_array();
  }

  const ShownRecording& shown_;
  const Recording& recording_;
  const ShownStacks& stacks_;
  JsonWriter json_;
  std::vector<std::uint32_t> frame_;  // for each frame of the recording, its index in the document
  std::vector<std::uint32_t> equal_;  // equal_nodes()
  std::vector<std::uint32_t> path_;
};

}  // namespace

bool write_speedscope(const ShownRecording& shown, ByteSink& sink) { return SpeedscopeWriter(shown, sink).write(); }

}  // namespace mixwalk
