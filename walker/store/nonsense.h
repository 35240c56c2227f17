#pragma once

#include <cstdint>
#include <limits>

namespace mixwalk {

// Thrown by the functions that read the content of records, and caught by ContentReader. It says why a record is not
// valid, as a literal.
struct Nonsense {
  const char* why;
};

inline void require(bool holds, const char* why) {
  if (!holds) throw Nonsense{why};
}

template <class Enum>
Enum checked(std::uint64_t value, Enum last) {
  require(value <= static_cast<std::uint64_t>(last), "an enumeration's value is not known");
  return static_cast<Enum>(value);
}

template <class Number>
Number checked(std::uint64_t value) {
  require(value <= std::numeric_limits<Number>::max(), "a number is too large");
  return static_cast<Number>(value);
}

}  // namespace mixwalk
