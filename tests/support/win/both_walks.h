#pragma once

#include <cstdint>

#include "tests/support/win/shared_page.h"

namespace mixwalk {

// What mixwalk_both.dll has found. That DLL is mixwalk.dll, but it walks each sample that DoStackSnapshot has walked a
// second time, from the sample's copy, and compares the two walks. Only the thread that merges writes here.
struct BothWalks {
  static constexpr const wchar_t* kPageName = L"both-walks";
  // How two walks differ.
  enum Kind { runtime_not_whole, copy_not_whole, copy_has_more, runtime_has_more, other_frames, kKinds };
  static constexpr const char* kWords[kKinds] = {
      "the runtime's walk is not whole", "the copy's walk is not whole", "the copy's walk has more frames",
      "the runtime's walk has more frames", "other frames"};

  std::uint64_t compared;
  std::uint64_t different;    // both walks are whole, and have other managed frames
  std::uint64_t gaps_of_one;  // one of them is not: the code may be unloaded between the two walks
  std::uint64_t kinds[kKinds];
  std::uint64_t left_out;  // stacks that cannot be whole
  char examples[8192];     // the first differences: the frames of both walks
};
using BothWalksPage = SharedPage<BothWalks>;

}  // namespace mixwalk
