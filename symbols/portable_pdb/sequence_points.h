#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace mixwalk {

// The place in the source for the code of a method from an offset of its IL on.
struct SequencePoint {
  std::uint32_t document = 0;  // a row of table Document, from 1 on
  std::uint32_t line = 0;
  bool operator==(const SequencePoint&) const = default;
};

// Returns the last visible sequence point at or before the offset. `blob` is the content of
// MethodDebugInformation.SequencePoints; `document` is MethodDebugInformation.Document, 0 if the method has several.
// Points behind damaged bytes do not count. Returns nothing if the offset lies behind more points than any method has.
// Pure.
std::optional<SequencePoint> find_sequence_point(std::span<const std::byte> blob, std::uint32_t document,
                                                 std::uint32_t il_offset);

}  // namespace mixwalk
