#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace mixwalk {

// Where the code of a method from an offset of its IL on came from.
struct SequencePoint {
  std::uint32_t document = 0;  // a row of table Document, from 1 on
  std::uint32_t line = 0;
  bool operator==(const SequencePoint&) const = default;
};

// The last visible sequence point at or before the offset. `blob`: the content of
// MethodDebugInformation.SequencePoints; `document`: MethodDebugInformation.Document, 0 where the method has several.
// Points behind damaged bytes do not count; nothing where the offset lies behind more points than any method has. Pure.
std::optional<SequencePoint> find_sequence_point(std::span<const std::byte> blob, std::uint32_t document,
                                                 std::uint32_t il_offset);

}  // namespace mixwalk
