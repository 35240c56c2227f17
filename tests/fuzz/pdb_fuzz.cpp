#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "symbols/pdb/pdb_symbols.h"
#include "symbols/web_url.h"
#include "tests/builders/image_builder.h"
#include "tests/support/lazy_index_peer.h"
#include "tests/symbols/pdb/pdb_files.h"

namespace {

using namespace mixwalk;

void check(bool holds) {
  if (!holds) std::abort();
}

// The image for which the PDBs of the corpus were made.
std::shared_ptr<const ImageFile> image() {
  static const auto made = std::make_shared<const ImageFile>(
      "app.exe", test::ImageBuilder()
                     .code_view(7, 1, "app.pdb")
                     .function(0x1020, 0x1038)
                     .put_code(0x1044, {0xC3})
                     .build());
  return made;
}

}  // namespace

// Any bytes must give a PDB or an error, and the PDB's symbols must be consistent.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  auto opened = open_pdb(
      std::make_shared<test::PdbInMemory>(std::vector<std::byte>(bytes.begin(), bytes.end())), image());
  check((opened.index != nullptr) == (opened.error == PdbError::none));
  check(!to_string(opened.error).empty());
  if (opened.index == nullptr) return 0;
  SourceLocation found;
  for (std::uint32_t rva = 0x1000; rva < 0x1200; ++rva) {
    if (!opened.index->find(rva, found)) continue;
    check(!found.frames.empty() && found.frames.size() <= SymbolIndex::kMaxDepth);
    check(found.begin <= rva && found.folded >= 1);
    for (const SourceFrame& frame : found.frames) {
      const std::string url = opened.index->source_url(frame.file);
      check(url.empty() || is_web_url(url));
    }
  }
  LazyIndexTestPeer::read_all(*opened.index);
  return 0;
}
