#pragma once

#include <cstdint>

namespace mixwalk {

// The meaning of an address on a stack. A return address may be the first byte after its function (a call that never
// returns ends the function), so look-ups of a return address must step back onto the call.
enum class AddressKind : std::uint8_t {
  instruction_pointer,  // the next instruction of the thread: leaf frames, and frames under a trap frame
  return_address,       // the frame will go on here
};

// A code address that can adjust itself for look-ups. Frozen-safe. This is the only place that subtracts 1.
struct CodeAddress {
  std::uint64_t address = 0;
  AddressKind kind = AddressKind::instruction_pointer;

  // An address inside the instruction that the frame is executing: for tables, lines and symbols.
  std::uint64_t lookup() const noexcept {
    return kind == AddressKind::return_address && address != 0 ? address - 1 : address;
  }
  bool operator==(const CodeAddress&) const = default;
};

}  // namespace mixwalk
