#pragma once

#include <cstdint>
#include <string>

namespace mixwalk {

// What answers the questions about a target's runtime: the runtime's own data contracts, or its debugging library.
// Tests compare the two.
enum class RuntimeSource : std::uint8_t {
  automatic,  // the contracts; the library if the runtime has no known contracts, or its data fails the check
  contracts,
  debugging_library,
};

// What answers questions about the runtime of a target from outside, or of a dump file.
struct RuntimeAnswers {
  RuntimeSource by = RuntimeSource::automatic;  // `automatic`: nothing answers, or it is not known what does
  std::string why;                              // why the contracts do not answer; empty if they do

  bool operator==(const RuntimeAnswers&) const = default;
};

}  // namespace mixwalk
