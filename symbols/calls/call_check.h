#pragma once

#include <cstddef>
#include <cstdint>

namespace mixwalk {

// Whether a call precedes a return address, and leads to the frame above.
enum class CallCheck : std::uint8_t {
  unchecked,  // not a return address of native code in an image, or the image's file cannot be read
  verified,   // a call with a known target; the target is the function above or leads to it by jumps alone
  possible,  // a call that may lead there: through a register, or by a way that cannot be followed to its end
  no_call,   // no call ends at the return address
  elsewhere,  // a call that leads to other functions; these do not jump to code outside themselves
};
inline constexpr std::size_t kCallChecks = 5;

}  // namespace mixwalk
