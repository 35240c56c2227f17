#include "symbols/metadata/compressed_number.h"

namespace mixwalk {
namespace {

struct Compressed {
  std::uint32_t value = 0;
  unsigned bits = 0;
};

// Reads a number of one, two or four bytes, as the first bits say.
Compressed read(ByteCursor& cursor) noexcept {
  const std::uint32_t first = cursor.u8();
  if ((first & 0x80) == 0) return {first, 7};
  const std::uint32_t second = cursor.u8();
  if ((first & 0xC0) == 0x80) return {(first & 0x3F) << 8 | second, 14};
  if ((first & 0xE0) != 0xC0) cursor.fail();
  const std::uint32_t third = cursor.u8();
  return {(first & 0x1F) << 24 | second << 16 | third << 8 | cursor.u8(), 29};
}

}  // namespace

std::uint32_t read_compressed(ByteCursor& cursor) noexcept { return read(cursor).value; }

// The lowest bit is the sign, and the rest is in two's complement.
std::int32_t read_compressed_signed(ByteCursor& cursor) noexcept {
  const Compressed number = read(cursor);
  const auto rest = static_cast<std::int32_t>(number.value >> 1);
  return (number.value & 1) == 0 ? rest : rest - static_cast<std::int32_t>(1u << (number.bits - 1));
}

}  // namespace mixwalk
