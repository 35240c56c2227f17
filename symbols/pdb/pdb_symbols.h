#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "symbols/image_file.h"
#include "symbols/index/lazy_index.h"
#include "symbols/pdb/pdb_error.h"
#include "unmanaged/image/debug_directory.h"

namespace mixwalk {

// The bytes of a PDB, either read into memory or mapped.
class PdbBytes {
 public:
  virtual ~PdbBytes() = default;
  virtual std::span<const std::byte> get() const noexcept = 0;
};

struct OpenedPdb {
  std::unique_ptr<LazyIndex> index;  // null if there is an error
  PdbError error = PdbError::none;
  PdbError lacks = PdbError::none;  // why the index has public symbols only
};

// The symbols of an image from its PDB. Not frozen-safe.
//
// The PDB must be the image's own: its GUID and its age are those of the image's CodeView entry. For an address, the
// index then has: - in a function of a module that has symbols: that function's name, undecorated and complete with its
// namespaces, as the compiler wrote it; the calls that are inlined there; the lines. A module is read when the section
// contributions first lead to it, and only its functions in its own contributions count: a function that the linker
// folded into another module's function is that other function. LazyIndex::linkage_name() finds the public symbol of
// that function, whose name has its parameters. - otherwise a public symbol, decorated: at the start of a function that
// .pdata knows, for all of that function; for a function without unwind data, to the end of its contribution if that is
// a COMDAT (with one function), otherwise as far as leaf_extent() is certain; never beyond the contribution or the next
// symbol. (The rule of PeExports: a public symbol has no length, and being the nearest is not enough.) If the image was
// rearranged after the link, or the PDB was made for fast links, there are only public symbols. SourceLocation::folded
// counts the functions that share their entry, by the public symbols and the module's own symbols.
OpenedPdb open_pdb(std::shared_ptr<const PdbBytes> pdb, std::shared_ptr<const ImageFile> image);

// Like open_pdb() above, for an image whose file is missing; its CodeView entry and SizeOfImage must be known. Without
// .pdata and code, a public symbol names a function only if the symbol's contribution is a COMDAT.
OpenedPdb open_pdb(std::shared_ptr<const PdbBytes> pdb, const CodeViewId& id, std::uint32_t size_of_image);

}  // namespace mixwalk
