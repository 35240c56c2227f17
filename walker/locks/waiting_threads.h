#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "walker/clr/clr_questions.h"
#include "walker/model/snapshot.h"
#include "walker/target/target.h"

namespace mixwalk {

// The limits for the part of a stack from the leaf to a method of .NET that waits. These are the frames of the wait,
// including those of the runtime and the system.
inline constexpr std::size_t kMaxManagedWaitFrames = 40;
inline constexpr std::uint64_t kMaxManagedWaitBytes = 16 << 10;

// The nearest frame to the leaf for which `is_method` is true, if the managed frames above it are those of a wait of
// .NET, and all frames above it are certain.
std::optional<std::size_t> frame_of_wait(const Thread& thread, bool (*is_method)(const Frame& frame));
// The address behind the arguments of the frame's function; nothing if it is not known.
std::optional<std::uint64_t> end_of_arguments(const Thread& thread, std::size_t frame);
// Whether the stack has a part from the leaf to `end` that is no larger than kMaxManagedWaitBytes.
bool is_managed_wait_part(const Thread& thread, std::uint64_t end);

// To be called between the capture of threads and what is read for it, in either order: data that was read before may
// differ from what the threads wait for now. Returns whether the target runs.
bool forget_what_was_read(Target& target, ClrQuestions& clr);

// Captures threads of a snapshot again, as long as they are where the snapshot found them. Not frozen-safe.
class WaitingThreads {
 public:
  // `target` must outlive this object, and must not list its threads anew as long as this object lives.
  explicit WaitingThreads(Target& target);

  // How many words are those of registers. The words of the stack follow.
  static constexpr std::size_t kRegisters = 16;

  // The thread's registers, and at most `max_bytes` of the words of its stack from Rsp to `end`. Returns an empty list
  // if the thread is no longer where its first frame is, or cannot be captured.
  std::vector<std::uint64_t> words_of(const Thread& thread, std::uint64_t end, std::uint64_t max_bytes);
  // The same for an is_managed_wait_part(). Returns an empty list if any of its words is missing, because another object
  // could then be taken for the one that the thread waits for.
  std::vector<std::uint64_t> all_words_of(const Thread& thread, std::uint64_t end);
  // Whether the thread is certainly no longer where its first frame is, so that it has run meanwhile.
  bool has_left(const Thread& thread);

 private:
  static constexpr std::size_t kStackBytes = 12 << 20;

  // Captures the thread into `stack_`. Returns nothing if that fails.
  std::optional<RawSample> captured(const Thread& thread);

  Target& target_;
  std::map<std::uint32_t, const TargetThread*> by_id_;
  std::unique_ptr<std::byte[]> stack_ = std::make_unique_for_overwrite<std::byte[]>(kStackBytes);
};

}  // namespace mixwalk
