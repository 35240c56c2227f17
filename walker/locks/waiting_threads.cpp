#include "walker/locks/waiting_threads.h"

#include <algorithm>
#include <string_view>

#include "unmanaged/home_space.h"
#include "walker/suspended/raw_sample.h"

namespace mixwalk {
namespace {

constexpr std::string_view kThreading = "System.Threading.";
// A SynchronizationContext that has asked to wait itself, whatever its type is.
constexpr std::string_view kContextWait = ".Wait(System.IntPtr[], System.Boolean, System.Int32)";

bool is_at_first_frame(const RawSample& sample, const Thread& thread) {
  const StackFrame& leaf = thread.stack.frames.front();
  return sample.context.rip == leaf.address && sample.context.rsp() == leaf.stack_pointer;
}

}  // namespace

std::optional<std::size_t> frame_of_wait(const Thread& thread, bool (*is_method)(const Frame& frame)) {
  const std::vector<StackFrame>& frames = thread.stack.frames;
  for (std::size_t i = 0; i < frames.size() && i < kMaxManagedWaitFrames; ++i) {
    const Frame& frame = frames[i];
    if (frame.kind == FrameKind::gap || is_guess(frame.trust)) return std::nullopt;
    if (frame.kind != FrameKind::managed) continue;
    if (is_method(frame)) return i;
    if (!frame.name.starts_with(kThreading) && !frame.name.ends_with(kContextWait)) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> end_of_arguments(const Thread& thread, std::size_t frame) {
  const std::vector<StackFrame>& frames = thread.stack.frames;
  if (frame + 1 >= frames.size() || frames[frame + 1].stack_pointer == 0) return std::nullopt;
  return frames[frame + 1].stack_pointer + kHomeBytes;
}

bool is_managed_wait_part(const Thread& thread, std::uint64_t end) {
  const std::uint64_t begin = thread.stack.frames.front().stack_pointer;
  return end >= begin && end - begin <= kMaxManagedWaitBytes;
}

bool forget_what_was_read(Target& target, ClrQuestions& clr) {
  const bool live = target.forget_memory();
  if (live) clr.target_ran();
  return live;
}

WaitingThreads::WaitingThreads(Target& target) : target_(target) {
  for (const TargetThread& thread : target.threads()) by_id_[thread.os_id] = &thread;
}

std::optional<RawSample> WaitingThreads::captured(const Thread& thread) {
  const auto known = by_id_.find(thread.os_id);
  if (known == by_id_.end() || thread.stack.frames.empty()) return std::nullopt;
  RawSample sample({stack_.get(), kStackBytes}, {});
  target_.capture(*known->second, sample);
  return sample.fault == CaptureFault::none ? std::optional(sample) : std::nullopt;
}

std::vector<std::uint64_t> WaitingThreads::words_of(const Thread& thread, std::uint64_t end, std::uint64_t max_bytes) {
  const auto found = captured(thread);
  if (!found || !is_at_first_frame(*found, thread)) return {};
  const RawSample& sample = *found;
  const StackFrame& leaf = thread.stack.frames.front();
  std::vector<std::uint64_t> words(sample.context.general.begin(), sample.context.general.end());
  end = std::min(end, leaf.stack_pointer + max_bytes);
  for (std::uint64_t at = leaf.stack_pointer; at + 8 <= end; at += 8) {
    if (const auto word = sample.stack.word(at)) words.push_back(*word);
  }
  return words;
}

std::vector<std::uint64_t> WaitingThreads::all_words_of(const Thread& thread, std::uint64_t end) {
  std::vector<std::uint64_t> words = words_of(thread, end, kMaxManagedWaitBytes);
  if (words.size() != kRegisters + (end - thread.stack.frames.front().stack_pointer) / 8) words.clear();
  return words;
}

bool WaitingThreads::has_left(const Thread& thread) {
  const auto found = captured(thread);
  return found && !is_at_first_frame(*found, thread);
}

}  // namespace mixwalk
