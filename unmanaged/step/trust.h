#pragma once

#include <cstdint>

namespace mixwalk {

// How a frame was found, best first. Frozen-safe.
enum class Trust : std::uint8_t {
  context,      // the register context of the thread itself
  runtime,      // reported by the CLR's own walker
  unwind_info,  // unwound by the .pdata of the module of the frame that it called
  dynamic,      // unwound by the dynamic function table (jitted code and stubs)
  leaf,         // the frame that it called has no unwind data: the return address at Rsp was taken
  scan,         // found by scanning stack memory; reserved, nothing produces it today
};

}  // namespace mixwalk
