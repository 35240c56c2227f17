#pragma once

#include <cstdint>

namespace mixwalk {

// What answers the questions about a target's runtime: the runtime's own data contracts, or its debugging library.
// Tests compare the two.
enum class RuntimeSource : std::uint8_t {
  automatic,  // the contracts; the library if the runtime has no known contracts, or its data fails the check
  contracts,
  debugging_library,
};

}  // namespace mixwalk
