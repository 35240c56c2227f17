#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "walker/store/layout.h"

namespace mixwalk {

// Encodes a record of a .mixwalk file: tag, length, content, checksum (docs/format.md).
std::string encode_record(layout::File kind, std::string content);

// The record at the beginning of some bytes.
struct Record {
  enum class State : std::uint8_t {
    whole,
    torn,     // the bytes end before the record does
    damaged,  // the checksum is wrong, or these bytes are no record
  };
  State state = State::torn;
  layout::File kind = layout::File::magic;
  std::string_view content;  // without the checksum
  std::size_t size = 0;      // of the whole record
};
Record next_record(std::string_view bytes) noexcept;

}  // namespace mixwalk
