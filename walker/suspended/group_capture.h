#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "unmanaged/step/memory_reader.h"
#include "walker/suspended/raw_sample.h"
#include "walker/suspended/thread_group.h"
#include "walker/suspended/unmoved_stack.h"

namespace mixwalk {

// Room for the stacks of all threads of a group. Most threads use some KiB of their committed stack; a stack may still
// grow by some KiB before the thread is suspended.
inline constexpr std::size_t kMinArenaBytes = 1 << 20;
inline constexpr std::size_t kStackGrowthBytes = 64 << 10;

// One thread of a group. The buffers of `sample` are empty at first, because its stack is copied into the arena.
struct GroupMember {
  RawSample sample{{}, {}};
  const UnmovedStack* last = nullptr;  // null if nothing is known about an earlier sample
  bool suspended = false;              // by capture_group(), and not resumed yet
  std::uint64_t suspended_ns = 0;      // when SuspendThread returned
  std::uint64_t reading_ns = 0;        // how long GetThreadContext took
};

// Freezes the threads of a group together, copies the registers and the stack of each, and then resumes all of them, so
// the copies are of the same moment. (Resuming each thread as soon as it is copied was measured: on busy processors the
// resumed threads keep the others from stopping, and this thread from copying them.) The CLR is not called, because one
// of several frozen threads may hold the lock for which another thread's walk would wait.
//
// A stack for which the arena has no more room has the fault no_room, and one that was copied after the supervisor
// resumed the group has the fault overdue. Such a thread has no copy of this moment. stopping_ns is how long the
// thread's own SuspendThread and GetThreadContext took. frozen_ns is all the rest of the time from the suspension to
// the resume, because threads that have stopped already stay frozen while this waits for another thread of the group.
//
// `suspending_ns`: after that time no further thread is suspended, and the remaining ones are overdue. Reading the
// registers of so many threads and resuming them takes longer than suspending them. For 2,000 threads on busy
// processors under Wine, where each of the three steps is a request to wineserver, reading took 5 s and resuming 20 s,
// but suspending 3 s. The first thread is frozen for the sum of the three.
//
// Returns how long the group was frozen, from before the first SuspendThread to after the last ResumeThread.
// Frozen-safe: this function is everything that happens while the threads are frozen.
std::uint64_t capture_group(ThreadGroup& group, std::span<GroupMember> members,
                            std::span<std::byte> arena, const MemoryReader& stack,
                            std::uint64_t suspending_ns = std::numeric_limits<std::uint64_t>::max()) noexcept;

}  // namespace mixwalk
