#pragma once

#include <windows.h>

#include <atomic>
#include <cstdint>

#include "tests/support/win/shared_page.h"

namespace mixwalk {

// Return addresses of one thread, those in mixwalk_starved.dll as offsets into it, leaf first.
struct StarveStack {
  static constexpr std::uint32_t kMax = 32;
  std::atomic<std::uint32_t> depth;  // 0: nothing of the kind has happened
  std::atomic<std::uint64_t> addresses[kMax];
};

// Which allocations of mixwalk_starved.dll fail: plain memory, shared between the DLL in the target and the test. An
// allocation is a malloc (operator new uses it), or a system call that creates something. Its place is the chain of our
// functions that led to it, as a hash.
struct StarveRecord {
  static constexpr wchar_t kPageName[] = L"starve";
  static constexpr std::size_t kMaxPlaces = 16'384;
  struct Place {
    std::atomic<std::uint64_t> hash;  // 0: this entry is empty
    std::atomic<std::uint64_t> times;
  };

  std::atomic<bool> all;             // every allocation fails
  char import[32];                   // every call of that function fails; empty: of none
  std::atomic<std::uint64_t> place;  // not 0: the `time`th allocation there fails (the first is 1),
  std::atomic<std::uint64_t> time;
  std::atomic<bool> all_that_follow;  // and then every other one
  std::atomic<std::uint64_t> times;   // allocations at `place` since the test set this to 0
  std::atomic<std::uint64_t> failed;  // of all
  std::atomic<std::uint64_t> count;   // allocations
  std::atomic<bool> learn;            // places are written down, in a hash table
  Place places[kMaxPlaces];
  std::atomic<std::uint32_t> spoil_last_error;  // not 0: every malloc sets the last error to it
  // For the message of a test that fails:
  StarveStack first_failure;  // the first allocation that failed
  StarveStack end;            // where abort() was called, or memory was touched that is not there
};

using StarvePage = SharedPage<StarveRecord>;  // of one process

}  // namespace mixwalk
