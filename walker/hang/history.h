#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "walker/hang/thread_roles.h"
#include "walker/hang/wait.h"
#include "walker/model/lock.h"

namespace mixwalk {

// The judgement about a thread over the dumps.
enum class Verdict : std::uint8_t {
  once,      // there is only one dump, so nothing can be said
  stuck,     // it cannot go on: the same stack, in a wait that is not idle, and no processor time was used
  spinning,  // the same place, and it ran for most of the time
  waiting,   // the same stack, in a wait for the outside or for a signal that no thread owns
  idle,      // it waits for work, which is its purpose
  returned,  // the same stack, but it ran in between, and has come to the same place again
  moved,     // another stack
  unclear,   // the same stack, but not in a known wait; or no stack; or it is unknown whether it ran
  appeared,  // it is in the last dump, but in none before
  gone,      // it is not in the last dump
};

// A thread in one dump.
struct Sighting {
  std::uint32_t dump = 0;    // index into the dumps that were compared
  std::uint32_t thread = 0;  // index into that dump's Snapshot::threads
  Wait wait;
  // Whether the thread has certainly gone on since the dump directly before, which contains it: it has another stack,
  // or it has run.
  bool went_on = false;
  bool moved = false;  // whether it has another stack than in that dump
  // A number for the tasks that the thread waits for, up to the one at the end (path_number()); 0 if there is none.
  std::uint64_t task_path = 0;

  bool operator==(const Sighting&) const = default;
};

// One thread over all dumps.
struct ThreadHistory {
  std::uint32_t os_id = 0;  // in the last dump that contains the thread
  std::string name;         // the last one known; empty if none
  ThreadRoles roles;        // in any of its dumps
  std::vector<Sighting> sightings;  // by dump; at least one
  Verdict verdict = Verdict::once;
  // The first of the consecutive dumps in which the thread is in the same place as in its last dump.
  std::uint32_t since = 0;
  // The first of the consecutive dumps in which the thread is in the same wait as in its last dump, at the same place,
  // although it may have run a little in between, as a thread that polls does.
  std::uint32_t polls_since = 0;
  // The processor time that the thread used from the dump `since` to its last dump, in units of 100 ns. If these are
  // the same dump, the time begins at the dump before. Has no value if unknown.
  std::optional<std::uint64_t> cpu;
  // The length of the same period in milliseconds; 0 if it is unknown, or if there is only one dump.
  std::uint64_t milliseconds = 0;
  // How many frames, from the root on, the stacks of its last two dumps have in common.
  std::uint32_t common = 0;

  const Sighting& last() const { return sightings.back(); }
  bool operator==(const ThreadHistory&) const = default;
};

}  // namespace mixwalk
