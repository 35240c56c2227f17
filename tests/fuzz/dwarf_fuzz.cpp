#include <cstdlib>
#include <span>
#include <vector>

#include "symbols/dwarf/dwarf_symbols.h"
#include "symbols/native_symbols.h"
#include "tests/support/lazy_index_peer.h"

namespace {

using namespace mixwalk;

void check(bool holds) {
  if (!holds) std::abort();
}

class NoFiles final : public ImageFiles {
 public:
  std::optional<std::vector<std::byte>> read(const std::string&) override { return std::nullopt; }
};

}  // namespace

// Any bytes must give an image with DWARF, or a reason why there is none; the result must be consistent.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto file = std::make_shared<const ImageFile>("", std::vector<std::byte>(bytes.begin(), bytes.end()));
  NoFiles files;
  DwarfSymbols dwarf = open_dwarf(file, files);
  check((dwarf.index == nullptr) == !dwarf.problem.empty());
  if (dwarf.index == nullptr) return 0;
  LazyIndexTestPeer::read_all(*dwarf.index);
  SourceLocation found;
  const auto hold = [&](std::uint32_t rva) {
    check(!found.frames.empty() && found.frames.size() <= SymbolIndex::kMaxDepth);
    check(found.begin <= rva && found.folded >= 1);
  };
  for (std::uint32_t rva = 0xFF8; rva < 0x1400; rva += 4) {
    if (dwarf.index->find(rva, found)) hold(rva);
  }
  NativeSymbols symbols(file, std::move(dwarf.index));
  for (const std::uint32_t rva : {0xFFFu, 0x1000u, 0x1020u, 0x1105u, 0x2000u}) {
    symbols.find(rva, found);
    hold(rva);
  }
  return 0;
}
