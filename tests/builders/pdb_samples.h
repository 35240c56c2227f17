#pragma once

#include "tests/builders/pdb_builder.h"

namespace mixwalk::test {

// PDBs whose GUID is 16 times 7, for tests and for the corpora of fuzz targets.

PdbBuilder empty_pdb();
// One module: ns::outer() has 0x40 bytes at offset 0, with ns::detail::inner() inlined, and Box<int>::get() inlined in
// that; next() has 0x10 bytes.
PdbModuleBuilder module_with_inlining(PdbBuilder& pdb);
PdbBuilder pdb_with_inlining();
// A PDB with functions that the linker folded, a thunk, separated code, public symbols, and "optimised" at 0xA0, into
// which a call of another module's function is inlined.
PdbBuilder pdb_of_all_kinds();

}  // namespace mixwalk::test
