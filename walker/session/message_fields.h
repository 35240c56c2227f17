#pragma once

#include <cstdint>
#include <stdexcept>

#include "walker/base/checked_protozero.h"

namespace mixwalk {

// How single values are sent through the pipe (protocol.h). Not frozen-safe; throws std::exception if a value is not
// valid.

// The number by which an enumeration's value is sent through the pipe.
template <class Value>
constexpr std::uint32_t to_number(Value value) noexcept {
  return static_cast<std::uint32_t>(value);
}

template <class Enum>
Enum checked(std::uint32_t value, Enum last) {
  if (value > to_number(last)) throw std::out_of_range("enumeration");
  return static_cast<Enum>(value);
}

// Folklore: protozero's get_bool reads its byte without checking that there is one. Real case: a message that ended
// with the field's tag made it read beyond the end. (Found by protocol_fuzz; corpus: bool_cut_off.)
template <class Field>
bool get_flag(protozero::pbf_message<Field>& in) {
  return in.get_uint32() != 0;
}

}  // namespace mixwalk
