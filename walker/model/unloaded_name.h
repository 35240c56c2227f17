#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "unmanaged/hex.h"

namespace mixwalk {

// The name of a native frame whose code was in an image that is not loaded any more: "<unloaded gone.dll>+0x1234".
inline constexpr std::string_view kUnloadedMark = "<unloaded ";
inline std::string unloaded_name(std::string_view file, std::uint64_t offset) {
  return std::string(kUnloadedMark).append(file).append(">+").append(hex(offset));
}

}  // namespace mixwalk
