// Arbitrary bytes as a minidump: the reader must end, and what it says of memory must hold together.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "unmanaged/minidump/dump_memory.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

template <class Piece>
void require_disjoint(std::span<const Piece> pieces) {
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    require(pieces[i].bytes != 0 && pieces[i].bytes - 1 <= UINT64_MAX - pieces[i].begin);
    if (i == 0) continue;
    require(pieces[i].begin > pieces[i - 1].begin);
    require(pieces[i].begin - pieces[i - 1].begin >= pieces[i - 1].bytes);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span file(reinterpret_cast<const std::byte*>(data), size);
  const mixwalk::Minidump dump = mixwalk::Minidump::parse(file);
  require(!mixwalk::to_string(dump.error()).empty());
  if (dump.error() != mixwalk::MinidumpError::none) return 0;
  require(!dump.threads().empty());
  require_disjoint(dump.memory());
  require_disjoint(dump.regions());
  const mixwalk::DumpMemory memory(dump);
  mixwalk::DumpOutsideMemory outside(dump);
  std::byte bytes[64];
  for (const mixwalk::MinidumpRange& range : dump.memory()) {
    require(range.offset <= size && range.bytes <= size - range.offset);
    const std::uint64_t last = range.begin + (range.bytes - 1);
    require(memory.read(range.begin, bytes, 1) && bytes[0] == file[range.offset]);
    require(memory.read(last, bytes, 1) && bytes[0] == file[range.offset + (range.bytes - 1)]);
    memory.read(last, bytes, sizeof bytes);
    memory.read_up_to(range.begin - 8, bytes, sizeof bytes);
    outside.kind(range.begin);
  }
  for (const mixwalk::MinidumpRegion& region : dump.regions()) outside.kind(region.begin + (region.bytes - 1));
  return 0;
}
