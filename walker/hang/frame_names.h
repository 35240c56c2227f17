#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "walker/hang/managed_images.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// The method of a managed frame without its parameters and without the arguments of generic types and methods:
// "System.Threading.Tasks.Task.GetResultCore" for "System.Threading.Tasks.Task<System.Int32>.GetResultCore(…)". Names
// that the C# compiler makes and that begin with an angle bracket keep their angle brackets: "C+<>c.<Run>b__1".
std::string method_of(std::string_view name);

// What the frames of a dump are, as far as rules ask for it. Refers to the snapshot. Pure.
class FrameNames {
 public:
  explicit FrameNames(const Snapshot& snapshot);

  // The image of a native frame without ".dll", in lower case: "ntdll". Returns an empty text if it is in none.
  std::string_view image(const Frame& frame) const;
  // A native frame in the system's libraries, or in the runtime.
  bool system(const Frame& frame) const;
  bool runtime(const Frame& frame) const;
  // Managed code of .NET itself, by the image that it is in; where that is not known by its namespace: System, Microsoft,
  // Interop, Internal, MS, Windows. A name is needed.
  bool library(const Frame& frame) const;
  // It is the program's own: managed or native, not of .NET and not of the system, no stub and no gap.
  bool of_program(const Frame& frame) const;

  const Snapshot& snapshot() const noexcept { return snapshot_; }

 private:
  const Snapshot& snapshot_;
  std::vector<std::string> images_;     // by module
  std::vector<bool> runtime_, system_;  // by module
  std::vector<CodeOwner> owners_;           // of managed code, by module
  std::vector<CodeOwner> assembly_owners_;  // by assembly
};

// The frames of a stack that are shown where there is no room for all: the frame `first`, and, of its callers, stubs
// and frames of the program's own code. At most `count` indices into `frames`; none where `first` is none.
std::vector<std::uint32_t> significant_frames(const FrameNames& names, const std::vector<Frame>& frames,
                                              std::uint32_t first, std::size_t count);

// Frames of each thread that a finding shows.
inline constexpr std::size_t kFindingFrames = 3;

// "0x1f4".
std::string hex(std::uint64_t value);

// A name of the target for a sentence: of a long name the beginning and "…".
std::string clipped(std::string_view name);

// For a sentence, clipped: "orders.dll!submit", "Orders.Client.Fetch(string)", "[P/Invoke] orders!wait".
std::string short_label(const Snapshot& snapshot, const Frame& frame);

}  // namespace mixwalk
