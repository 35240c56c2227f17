#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "symbols/byte_cursor.h"
#include "symbols/native_aot/stack_trace_map.h"

using namespace mixwalk;

// The input is a byte whose lowest bit chooses the form of handles, the length of the metadata (16 bits), the metadata,
// and the map. If the second bit of the first byte is set, there are the tables of reflection in place of the map: the
// lengths of the types and of the methods (16 bits each), the types, the methods and the references. As a whole the
// input is also read as an image.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> input(reinterpret_cast<const std::byte*>(data), size);
  const PeImage image = PeImage::parse(input);
  if (const auto parts = StackTraceMap::find(image)) StackTraceMap(*parts).add_code(image, input);
  if (size < 3) return 0;
  const std::size_t metadata = std::min<std::size_t>(data[1] | data[2] << 8, size - 3);
  constexpr std::uint32_t kMapRva = 0x5000;
  StackTraceMap::Parts parts{input.subspan(3, metadata), input.subspan(3 + metadata), kMapRva, 7u + data[0] % 2};
  if ((data[0] & 2) != 0) {
    ByteCursor tables(parts.map);
    const std::size_t types = tables.u16(), methods = tables.u16();
    parts.map = {};
    parts.reflection = {tables.take(types), tables.take(methods), {}, 0x6000};
    parts.reflection.references = tables.rest();
  }
  const StackTraceMap map(parts);
  if (map.size() * 2 > size) std::abort();  // an entry has at least two bytes
  for (std::uint32_t rva = 0x1000; rva <= 0x1600; rva += 0x10) map.name_at(rva);
  return 0;
}
