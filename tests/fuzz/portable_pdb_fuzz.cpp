#include <algorithm>
#include <cstdlib>
#include <span>
#include <vector>

#include "symbols/portable_pdb/assembly_mvid.h"
#include "symbols/portable_pdb/embedded_pdb.h"
#include "symbols/portable_pdb/portable_pdb.h"

namespace {

using namespace mixwalk;

void check(bool holds) {
  if (!holds) std::abort();
}

// The id of the PDBs in the corpus: 16 times 7, and the timestamp of ImageBuilder.
CodeViewId id() {
  CodeViewId id{.timestamp = 0x5EED1234, .portable = true};
  std::fill(id.guid.begin(), id.guid.end(), std::byte{7});
  return id;
}

void read(std::vector<std::byte> file) {
  const auto opened = PortablePdb::open(std::move(file), id());
  check((opened.pdb != nullptr) == (opened.error == PortablePdbError::none));
  check(!to_string(opened.error).empty());
  if (opened.pdb == nullptr) return;
  for (std::uint32_t row = 0; row < 20; ++row) {
    for (const std::uint32_t number : {0u, 1u, 1000u}) opened.pdb->find_await(0x06000000 | row, number);
    for (const std::uint32_t il : {0u, 5u, 9u, 0xFFFFFFFFu}) {
      const auto place = opened.pdb->find(0x06000000 | row, il);
      check(!place || place->file.size() <= 32'768);
    }
  }
}

}  // namespace

// Any bytes must give a portable PDB, an image with an embedded one, an assembly, or an error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  read({bytes.begin(), bytes.end()});
  const DebugEntry entry{.type = DebugEntry::kEmbeddedPortablePdb, .data = bytes};
  if (auto unpacked = embedded_pdb(std::span(&entry, 1))) read(std::move(*unpacked));
  assembly_mvid(bytes);
  return 0;
}
