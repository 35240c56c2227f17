#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "walker/model/recording.h"

namespace mixwalk {

// Finds the frames by which the runtime throws. They are above the frame that threw. They are recognised by their kind,
// not by their number:
// - native frames in the runtime's own images (runtime_images.h);
// - the managed half of the runtime's dispatch, System.Runtime.EH in System.Private.CoreLib.dll;
// - between those: the system's dispatch, which is frames of ntdll.dll and kernelbase.dll down to its first function:
//   KiUserExceptionDispatcher for a fault of the processor, RaiseException for an exception that the runtime raised.
// The first frame of another kind is the one that threw. Library methods that throw on behalf of others (ThrowHelper)
// are kept, as in Exception.StackTrace. Pure.
class ThrowMachinery {
 public:
  explicit ThrowMachinery(const Recording& recording);

  // How many of the stack's first frames are the throw machinery. Returns 0 if no managed frame would be left, or if
  // the top frame is not the runtime's. `frames`: leaf first, indices into recording.frames.
  std::size_t frames_of(std::span<const std::uint32_t> frames) const;

 private:
  enum class Part : std::uint8_t { other, runtime, system, system_begins };

  std::vector<Part> parts_;    // by frame
  std::vector<bool> managed_;  // by frame
};

}  // namespace mixwalk
