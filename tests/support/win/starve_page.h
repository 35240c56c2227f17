#pragma once

#include <windows.h>

#include <atomic>
#include <cstdint>

#include "tests/support/win/shared_page.h"

namespace mixwalk {

// The return addresses of one thread, leaf first. Addresses in mixwalk_starved.dll are offsets into that DLL.
struct StarveStack {
  static constexpr std::uint32_t kMax = 32;
  std::atomic<std::uint32_t> depth;  // 0 if no such event has happened
  std::atomic<std::uint64_t> addresses[kMax];
};

// Says which allocations of mixwalk_starved.dll fail: plain memory, shared between the DLL in the target and the test.
// An allocation is a malloc (operator new uses it), or a system call that creates something. Its place is a hash of the
// chain of our functions that led to it.
struct StarveRecord {
  static constexpr wchar_t kPageName[] = L"starve";
  static constexpr std::size_t kMaxPlaces = 16'384;
  struct Place {
    std::atomic<std::uint64_t> hash;  // 0 if this entry is empty
    std::atomic<std::uint64_t> times;
  };

  std::atomic<bool> all;             // every allocation fails
  char import[32];                   // every call of that function fails; empty for no function
  std::atomic<std::uint64_t> place;  // if not 0, the `time`th allocation there fails (from 1)
  std::atomic<std::uint64_t> time;
  std::atomic<bool> all_that_follow;  // and so does every later one
  std::atomic<std::uint64_t> times;   // allocations at `place` since the test set this to 0
  std::atomic<std::uint64_t> failed;  // failed allocations
  std::atomic<std::uint64_t> count;   // allocations
  std::atomic<bool> learn;            // places are recorded in a hash table
  Place places[kMaxPlaces];
  std::atomic<std::uint32_t> spoil_last_error;  // if not 0, every malloc sets the last error to this value
  // For the message of a test that fails:
  StarveStack first_failure;  // the first allocation that failed
  StarveStack end;            // the place where abort() was called, or memory was touched that is not there
};

using StarvePage = SharedPage<StarveRecord>;  // of one process

}  // namespace mixwalk
