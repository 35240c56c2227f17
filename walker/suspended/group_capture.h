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

// One thread of a group. `sample` comes with a buffer of no bytes and no entries: its stack is put into
// the arena.
struct GroupMember {
  RawSample sample{{}, {}};
  const UnmovedStack* last = nullptr;  // null: nothing is known of a sample before
  bool suspended = false;              // by capture_group(), and not resumed yet
  std::uint64_t suspended_ns = 0;      // when SuspendThread came back
  std::uint64_t reading_ns = 0;        // how long GetThreadContext took
};

// Freezes the threads of a group together, copies the registers and the stack of each, and then lets all
// of them run again: the copies are of one moment. (To let each run as soon as it is copied was measured:
// on full processors the threads that run again keep the others from coming to stand, and ourselves from
// copying them.) No call into the CLR: while several threads stand, one may hold the lock
// that another's walk would wait for.
//
// A stack that has no more room in the arena has the fault no_room, and one that was copied after the
// supervisor let the group go has the fault overdue: these threads have no copy of this moment.
// stopping_ns is how long the thread's own SuspendThread and GetThreadContext took, frozen_ns all the rest
// from the suspension to the resume: while a thread of the group is waited for, those that stand already go
// on standing.
//
// `suspending_ns`: after that time no further thread is suspended; the others are late. To read the registers of so many
// threads, and to let them run again, takes as long once more and longer: of 2,000 threads on full processors, under
// Wine, where each of the three is a request to another process, 3 s, 5 s and 20 s. The first thread stands for the sum.
//
// Returns how long the group stood: from before the first SuspendThread to after the last ResumeThread.
// Frozen-safe: this is the whole of what happens while the threads stand.
std::uint64_t capture_group(ThreadGroup& group, std::span<GroupMember> members,
                            std::span<std::byte> arena, const MemoryReader& stack,
                            std::uint64_t suspending_ns = std::numeric_limits<std::uint64_t>::max()) noexcept;

}  // namespace mixwalk
