#pragma once

#include <cstddef>
#include <cstdint>
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

// When the threads of a group run again.
enum class GroupResume : std::uint8_t {
  together,    // after the last copy: all copies are of one moment
  one_by_one,  // each after its own copy
};

// Freezes the threads of a group together, and copies the registers and the stack of each. All of them
// run again when this returns. No call into the CLR: while several threads stand, one may hold the lock
// that another's walk would wait for.
//
// A stack that has no more room in the arena has the fault no_room, and one that was copied after the
// supervisor let the group go has the fault overdue: these threads have no copy of this moment.
// stopping_ns is how long GetThreadContext waited for the thread, frozen_ns all the rest from the
// suspension to the resume: while a thread of the group is waited for, those that stand already go on
// standing.
//
// Returns how long the group stood: from before the first SuspendThread to after the last ResumeThread.
// Frozen-safe: this is the whole of what happens while the threads stand.
std::uint64_t capture_group(ThreadGroup& group, std::span<GroupMember> members,
                            std::span<std::byte> arena, const MemoryReader& stack,
                            GroupResume resume) noexcept;

}  // namespace mixwalk
