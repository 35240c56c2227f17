#include "walker/shown/shown_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "unmanaged/image/debug_directory.h"
#include "walker/base/utf8.h"
#include "walker/shown/frame_label.h"

namespace mixwalk {

std::string_view ShownStacks::Frame::plain_label() const {
  std::string_view plain = label;
  if (frame != nullptr && is_guess(frame->trust) && plain.ends_with(kGuessedMark)) {
    plain.remove_suffix(kGuessedMark.size());
  }
  return plain;
}

std::string_view ShownStacks::Frame::system_name() const {
  if (frame == nullptr || valid_utf8(frame->name) == label) return {};
  return frame->name;
}

ShownStacks::ShownStacks(const Recording& recording, bool fold)
    : modules_(recording.modules), assemblies_(recording.assemblies), folds_(fold), whole_{recording.nodes, {}} {
  frames_.reserve(recording.frames.size());
  for (const mixwalk::Frame& frame : recording.frames) frames_.push_back({{}, &frame});
  label_frames();
  std::vector<std::uint32_t> words;
  words.reserve(recording.samples.size());
  whole_.leaves.reserve(recording.samples.size());
  for (const Recording::Sample& sample : recording.samples) {
    whole_.leaves.push_back(sample.stack);
    words.push_back(sample.detail);
  }
  if (fold) {
    const RuntimeFrames runtime_frames(recording);
    RecordingBuilder nodes;
    std::unordered_map<std::uint32_t, std::uint32_t> leaves;  // leaf → its folded leaf
    for (const std::uint32_t leaf : whole_.leaves) {
      const auto [at, added] = leaves.try_emplace(leaf, Recording::kNone);
      if (added) at->second = nodes.add_path(folded(stack_frames(recording, leaf), runtime_frames));
      folded_.leaves.push_back(at->second);
    }
    folded_.nodes = std::move(nodes.recording().nodes);
    add_words(words, recording.details, is_moment(recording.event), folded_);
  }
  add_words(words, recording.details, is_moment(recording.event), whole_);
}

ShownStacks::ShownStacks(const Snapshot& dump, const FrameFilter& filter)
    : modules_(dump.modules), assemblies_(dump.assemblies), folds_(!filter.all) {
  RecordingBuilder whole, folds;
  std::vector<std::uint32_t> words;
  std::vector<std::vector<std::uint32_t>> stacks;  // the shown frames of each thread, leaf first
  for (const Thread& thread : dump.threads) {
    std::vector<std::uint32_t> all(thread.stack.frames.size());
    for (std::size_t i = all.size(); i-- != 0;) {
      all[i] = whole.add_frame(thread.stack.frames[i]);
      if (all[i] == frames_.size()) frames_.push_back({{}, &thread.stack.frames[i]});
    }
    std::vector<std::uint32_t>& shown = stacks.emplace_back();
    for (const std::size_t i : select_frames(filter, thread.stack).frames) shown.push_back(all[i]);
    whole_.leaves.push_back(whole.add_path(shown));
    words.push_back(thread.skipped.empty() ? Recording::kNone : whole.add_detail(thread.skipped));
  }
  label_frames();
  whole_.nodes = std::move(whole.recording().nodes);
  add_words(words, whole.recording().details, false, whole_);
  if (!folds_) return;
  const RuntimeFrames runtime_frames(dump);
  for (const auto& stack : stacks) folded_.leaves.push_back(folds.add_path(folded(stack, runtime_frames)));
  folded_.nodes = std::move(folds.recording().nodes);
  add_words(words, whole.recording().details, false, folded_);
}

// A node with a word is made for each stack and word.
void ShownStacks::add_words(const std::vector<std::uint32_t>& words, const std::vector<std::string>& texts,
                            bool moments, Paths& paths) {
  std::unordered_map<std::uint64_t, std::uint32_t> known;  // stack << 32 | word → its node
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::uint32_t& leaf = paths.leaves[i];
    const bool stackless = leaf == Recording::kNone, worded = words[i] != Recording::kNone;
    if (!stackless && !(moments && worded)) continue;
    const auto [at, added] =
        known.emplace(std::uint64_t{leaf} << 32 | words[i], static_cast<std::uint32_t>(paths.nodes.size()));
    if (added) {
      std::string text = worded ? valid_utf8(texts[words[i]]) : std::string();
      if (stackless) text = text.empty() ? "[no stack]" : fmt::format("[no stack: {}]", text);
      paths.nodes.push_back({leaf, static_cast<std::uint32_t>(frames_.size())});
      frames_.push_back({std::move(text), nullptr});
    }
    leaf = at->second;
  }
}

// `frames`: of one stack, leaf first. Returns the same with each row of folded frames as one frame.
std::vector<std::uint32_t> ShownStacks::folded(const std::vector<std::uint32_t>& frames,
                                               const RuntimeFrames& runtime_frames) {
  std::vector<const mixwalk::Frame*> stack;
  for (const std::uint32_t frame : frames) stack.push_back(frames_[frame].frame);
  std::vector<std::uint32_t> shown;
  std::size_t at = 0;
  for (FoldedFrames& fold : runtime_frames.of(stack)) {
    for (; at < fold.first; ++at) shown.push_back(frames[at]);
    at += fold.count;
    const auto [role, added] = roles_.emplace(std::move(fold.role), static_cast<std::uint32_t>(frames_.size()));
    if (added) frames_.push_back({fmt::format("[{}]", role->first), nullptr});
    shown.push_back(role->second);
  }
  shown.insert(shown.end(), frames.begin() + static_cast<std::ptrdiff_t>(at), frames.end());
  return shown;
}

std::string_view ShownStacks::image(const mixwalk::Frame& frame) const {
  if (frame.module != mixwalk::Frame::kNone) return file_name(modules_[static_cast<std::size_t>(frame.module)].path);
  const auto assembly = static_cast<std::size_t>(frame.il.assembly);
  if (frame.il.assembly < 0 || assembly >= assemblies_.size()) return {};
  return file_name(assemblies_[assembly].path);
}

// Overloads of an async method would have the same label, since the name of a state machine does not contain the
// parameters. Only these methods keep the names that the metadata gives them.
void ShownStacks::label_frames() {
  std::unordered_map<std::string_view, const std::string*> raw;  // by label; null if several names have the label
  const auto is_managed = [](const Frame& frame) {
    return frame.frame->kind == FrameKind::managed && !frame.frame->name.empty();
  };
  for (Frame& frame : frames_) {
    frame.label = utf8_label(modules_, *frame.frame);
    if (!is_managed(frame)) continue;
    const auto [at, added] = raw.try_emplace(frame.plain_label(), &frame.frame->name);
    if (!added && at->second != nullptr && *at->second != frame.frame->name) at->second = nullptr;
  }
  std::vector<Frame*> alike;  // the map's keys point to the labels, so these are changed afterwards
  for (Frame& frame : frames_) {
    if (is_managed(frame) && raw.at(frame.plain_label()) == nullptr) alike.push_back(&frame);
  }
  for (Frame* frame : alike) frame->label = raw_utf8_label(modules_, *frame->frame);
}

std::vector<std::uint32_t> equal_nodes(const std::vector<Recording::Node>& nodes,
                                       const std::vector<std::uint32_t>& frames) {
  std::vector<std::uint32_t> equal;
  equal.reserve(nodes.size());
  std::unordered_map<std::uint64_t, std::uint32_t> known;  // equal parent << 32 | frame → the first such node
  for (const Recording::Node& node : nodes) {
    const std::uint32_t parent = node.parent == Recording::kNone ? node.parent : equal[node.parent];
    const std::uint64_t key = std::uint64_t{parent} << 32 | frames[node.frame];
    equal.push_back(known.emplace(key, static_cast<std::uint32_t>(equal.size())).first->second);
  }
  return equal;
}

std::vector<std::uint32_t> standing_leaves(const Recording& recording, const std::vector<std::uint32_t>& leaves) {
  static_assert(static_cast<unsigned>(kLastStanding) < 4);
  std::vector<std::uint32_t> standing;
  standing.reserve(leaves.size());
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    standing.push_back(leaves[i] * 4 + static_cast<std::uint32_t>(recording.samples[i].standing));
  }
  return standing;
}

std::vector<std::vector<std::uint32_t>> samples_by_thread(const Recording& recording) {
  std::vector<std::vector<std::uint32_t>> samples(recording.threads.size());
  for (std::size_t i = 0; i < recording.samples.size(); ++i) {
    samples[recording.samples[i].thread].push_back(static_cast<std::uint32_t>(i));
  }
  return samples;
}

std::vector<SampleSum> sum_samples(const Recording& recording,
                                   const std::vector<std::uint32_t>& stacks, bool by_thread) {
  std::vector<SampleSum> sums;
  std::unordered_map<std::uint64_t, std::size_t> known;  // thread << 32 | stack
  for (std::size_t i = 0; i < recording.samples.size(); ++i) {
    const Recording::Sample& sample = recording.samples[i];
    const std::uint32_t thread = by_thread ? sample.thread : 0;
    const auto [at, added] = known.emplace(std::uint64_t{thread} << 32 | stacks[i], sums.size());
    if (added) sums.push_back({thread, stacks[i]});
    SampleSum& sum = sums[at->second];
    ++sum.count;
    sum.value += std::min(sample.value, std::numeric_limits<std::uint64_t>::max() - sum.value);
  }
  return sums;
}

std::string thread_label(const Recording::ThreadInfo& thread) {
  return thread.name.empty() ? fmt::format("thread {:#x}", thread.os_id) : valid_utf8(thread.name);
}

}  // namespace mixwalk
