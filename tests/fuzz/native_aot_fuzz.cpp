#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "symbols/native_aot/stack_trace_map.h"

using namespace mixwalk;

// The input is a byte whose lowest bit chooses the form of handles, the length of the metadata (16 bits), the metadata,
// and the map. As a whole it is also read as an image.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> input(reinterpret_cast<const std::byte*>(data), size);
  const PeImage image = PeImage::parse(input);
  if (const auto parts = StackTraceMap::find(image)) StackTraceMap(*parts).add_handlers(image, input);
  if (size < 3) return 0;
  const std::size_t metadata = std::min<std::size_t>(data[1] | data[2] << 8, size - 3);
  constexpr std::uint32_t kMapRva = 0x5000;
  const StackTraceMap map({input.subspan(3, metadata), input.subspan(3 + metadata), kMapRva, 7u + data[0] % 2});
  if (map.size() * 5 > size) std::abort();  // an entry has at least five bytes
  for (std::uint32_t rva = 0x1000; rva <= 0x1400; rva += 0x100) map.name_at(rva);
  return 0;
}
