#include "walker/shown/recorded_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "walker/base/utf8.h"
#include "walker/shown/frame_label.h"
#include "walker/shown/runtime_frames.h"

namespace mixwalk {

std::string_view RecordedStacks::Frame::plain_label() const {
  std::string_view plain = label;
  if (frame != nullptr && is_guess(frame->trust) && plain.ends_with(kGuessedMark)) plain.remove_suffix(kGuessedMark.size());
  return plain;
}

std::string_view RecordedStacks::Frame::system_name() const {
  if (frame == nullptr || valid_utf8(frame->name) == label) return {};
  return frame->name;
}

RecordedStacks::RecordedStacks(const Recording& recording, bool fold) : nodes_(recording.nodes) {
  frames_.reserve(recording.frames.size());
  for (const mixwalk::Frame& frame : recording.frames) {
    frames_.push_back({frame_label(recording, frame), &frame});
  }
  keep_methods_apart(recording);
  const std::vector<std::uint32_t> folded = fold ? fold_stacks(recording) : std::vector<std::uint32_t>();
  std::unordered_map<std::uint64_t, std::uint32_t> words;  // stack << 32 | detail → its node
  leaves_.reserve(recording.samples.size());
  for (const Recording::Sample& sample : recording.samples) {
    const bool stackless = sample.stack == Recording::kNone;
    const std::uint32_t stack = fold && !stackless ? folded[sample.stack] : sample.stack;
    const bool typed = sample.detail != Recording::kNone && is_moment(recording.event);
    if (!stackless && !typed) {
      leaves_.push_back(stack);
      continue;
    }
    const std::uint64_t key = std::uint64_t{stack} << 32 | sample.detail;
    const auto [at, added] = words.emplace(key, static_cast<std::uint32_t>(nodes_.size()));
    if (added) {
      std::string text = sample.detail == Recording::kNone
                             ? std::string()
                             : valid_utf8(recording.details[sample.detail]);
      if (stackless) text = text.empty() ? "[no stack]" : fmt::format("[no stack: {}]", text);
      nodes_.push_back({stack, static_cast<std::uint32_t>(frames_.size())});
      frames_.push_back({std::move(text), nullptr});
    }
    leaves_.push_back(at->second);
  }
}

// Makes the nodes anew. Returns the new node of each leaf of a sample, by its old node.
std::vector<std::uint32_t> RecordedStacks::fold_stacks(const Recording& recording) {
  const RuntimeFrames runtime_frames(recording);
  std::unordered_map<std::uint64_t, std::uint32_t> nodes;  // parent << 32 | frame → its node
  std::unordered_map<std::string, std::uint32_t> roles;    // role → its frame
  std::vector<std::uint32_t> leaves(recording.nodes.size(), Recording::kNone);
  nodes_.clear();
  for (const Recording::Sample& sample : recording.samples) {
    if (sample.stack == Recording::kNone || leaves[sample.stack] != Recording::kNone) continue;
    const std::vector<std::uint32_t> frames = stack_frames(recording, sample.stack);
    Stack stack;
    stack.engine = recording.engine;
    for (const std::uint32_t frame : frames) stack.frames.emplace_back(mixwalk::Frame(recording.frames[frame]));
    std::vector<std::uint32_t> shown;
    std::size_t at = 0;
    for (FoldedFrames& fold : runtime_frames.of(stack)) {
      for (; at < fold.first; ++at) shown.push_back(frames[at]);
      at += fold.count;
      const auto [role, added] = roles.emplace(std::move(fold.role), static_cast<std::uint32_t>(frames_.size()));
      if (added) frames_.push_back({fmt::format("[{}]", role->first), nullptr});
      shown.push_back(role->second);
    }
    for (; at < frames.size(); ++at) shown.push_back(frames[at]);
    std::uint32_t node = Recording::kNone;
    for (auto frame = shown.rbegin(); frame != shown.rend(); ++frame) {
      const auto [known, added] =
          nodes.emplace(std::uint64_t{node} << 32 | *frame, static_cast<std::uint32_t>(nodes_.size()));
      if (added) nodes_.push_back({node, *frame});
      node = known->second;
    }
    leaves[sample.stack] = node;
  }
  return leaves;
}

// Overloads of an async method would have the same label, since the name of a state machine does not contain the
// parameters. Only these methods keep the names that the metadata gives them.
void RecordedStacks::keep_methods_apart(const Recording& recording) {
  std::unordered_map<std::string_view, const std::string*> raw;  // by label; null if several names have the label
  const auto is_managed = [](const Frame& frame) {
    return frame.frame->kind == FrameKind::managed && !frame.frame->name.empty();
  };
  for (const Frame& frame : frames_) {
    if (!is_managed(frame)) continue;
    const auto [at, added] = raw.try_emplace(frame.plain_label(), &frame.frame->name);
    if (!added && at->second != nullptr && *at->second != frame.frame->name) at->second = nullptr;
  }
  std::vector<Frame*> alike;  // the map's keys point to the labels, so these are changed afterwards
  for (Frame& frame : frames_) {
    if (is_managed(frame) && raw.at(frame.plain_label()) == nullptr) alike.push_back(&frame);
  }
  for (Frame* frame : alike) frame->label = raw_frame_label(recording, *frame->frame);
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
