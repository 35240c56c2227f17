#pragma once

#include <cstdint>

namespace mixwalk {

// How a frame was found. Files store the numbers, so a new one is added at the end. Frozen-safe.
enum class Trust : std::uint8_t {
  context,      // the register context of the thread itself
  runtime,      // reported by the CLR's own walker
  unwind_info,  // unwound by the .pdata of the module of the frame that it called
  dynamic,      // unwound by the dynamic function table (jitted code and stubs)
  leaf,         // the frame that it called has no unwind data: the return address at Rsp was taken
  // The next two are guesses: the called frame has no unwind data, and its function is not a leaf function.
  scan,           // the first word above that can be a return address and from which the walk can continue
  frame_pointer,  // the frame to which the called frame's frame pointer leads
};
inline constexpr Trust kLastTrust = Trust::frame_pointer;

constexpr bool is_guess(Trust trust) noexcept { return trust == Trust::scan || trust == Trust::frame_pointer; }

}  // namespace mixwalk
