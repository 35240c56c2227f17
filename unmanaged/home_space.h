#pragma once

#include <cstdint>

namespace mixwalk {

// A function may keep its first four arguments in this room, which its caller has for them right above the return
// address ("x64 calling convention", Microsoft).
inline constexpr std::uint64_t kHomeBytes = 0x20;

}  // namespace mixwalk
