#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "unmanaged/hex.h"
#include "walker/hang/managed_images.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// The method of a managed frame without its parameters and without the arguments of generic types and methods:
// "System.Threading.Tasks.Task.GetResultCore" for "System.Threading.Tasks.Task<System.Int32>.GetResultCore(…)". Names
// that the C# compiler makes and that begin with an angle bracket keep their angle brackets: "C+<>c.<Run>b__1".
std::string method_of(std::string_view name);

// Whether a managed frame of the thread has a name that begins so.
bool has_method(const Thread& thread, std::string_view begin);

// Whether this is a managed frame of .NET that runs the callbacks of a cancellation.
bool runs_cancellation_callbacks(const Frame& frame) noexcept;

// Classifies the frames of a dump, as rules need it. Refers to the snapshot. Pure.
class FrameNames {
 public:
  explicit FrameNames(const Snapshot& snapshot);

  // The image of a native frame without ".dll", in lower case: "ntdll". Returns an empty text if the frame is in no
  // image.
  std::string_view image(const Frame& frame) const;
  // Whether this is a native frame in the system's libraries, or in the runtime.
  bool system(const Frame& frame) const;
  bool runtime(const Frame& frame) const;
  // Whether this is managed code of .NET itself. The image of the code decides. If that is not known, the namespace
  // decides: System, Microsoft, Interop, Internal, MS, Windows. The frame must have a name.
  bool library(const Frame& frame) const;
  // Whether this is the program's own code: managed or native, not of .NET and not of the system, not a stub and not a
  // gap.
  bool of_program(const Frame& frame) const;

  const Snapshot& snapshot() const noexcept { return snapshot_; }

 private:
  const Snapshot& snapshot_;
  std::vector<std::string> images_;     // by module
  std::vector<bool> runtime_, system_;  // by module
  std::vector<CodeOwner> owners_;           // owners of managed code, by module
  std::vector<CodeOwner> assembly_owners_;  // owners of managed code, by assembly
};

// The frames of a stack that are shown if there is no room for all: the frame `first`, and those of its callers that
// are stubs or the program's own code. Returns at most `count` indices into `frames`, and none if `first` is none.
std::vector<std::uint32_t> significant_frames(const FrameNames& names, const std::vector<StackFrame>& frames,
                                              std::uint32_t first, std::size_t count);

// How many frames of each thread a finding shows.
inline constexpr std::size_t kFindingFrames = 3;

// A name of the target for a sentence. A long name is cut, and "…" is appended.
std::string clipped(std::string_view name);

// A short name of a frame for a sentence, clipped: "orders.dll!submit", "Orders.Client.Fetch(string)", "[P/Invoke]
// orders!wait".
std::string short_label(const Snapshot& snapshot, const Frame& frame);

}  // namespace mixwalk
