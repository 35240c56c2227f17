#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "unmanaged/step/stack_copy.h"
#include "walker/clr/contracts/runtime_reader.h"
#include "walker/merge/runtime_call.h"

namespace mixwalk {

// The FunctionID of the code at an address (CodeAddress::lookup()); 0 if it is neither a method nor a stub.
using FunctionAt = std::function<std::uint64_t(std::uint64_t ip)>;

// The calls from managed to native code that a thread is in, leaf first, from the runtime's list of the thread's
// explicit Frames. `newest`: the address of the first Frame (Thread.Frame). Not frozen-safe.
//
// A live thread may have run between the reading of `newest` and its copy. So all Frames are read from the copy, and a
// Frame counts only if what it says can be seen there: its place is on the stack, above the Frame before it, and it
// leads to code of the runtime. Frames that are not on this stack, as those of a fiber, end the list.
//
// Source: docs/design/datacontracts/StackWalk.md of the runtime, public. The Frames of .NET 9 have no numbers but
// vtables, so their kind is known only by what they say.
std::vector<RuntimeCall> explicit_frames(const RuntimeReader& reader, std::uint64_t newest, const StackCopy& stack,
                                         const FunctionAt& function_at);

// The addresses of all threads' newest Frames (Thread.Frame), read at one moment: when the first of them is asked for,
// or when they are noted. Not frozen-safe.
class NewestFrames {
 public:
  // Returns nothing if the runtime does not know the thread.
  std::optional<std::uint64_t> of(const RuntimeReader& reader, std::uint32_t os_id);
  // Reads them now. They then also stay when the target runs, because they belong to copies of its stacks.
  void note(const RuntimeReader& reader);
  void target_ran();

 private:
  void read(const RuntimeReader& reader);

  std::optional<std::unordered_map<std::uint32_t, std::uint64_t>> frames_;  // by the thread's id of the system
  bool noted_ = false;
};

}  // namespace mixwalk
