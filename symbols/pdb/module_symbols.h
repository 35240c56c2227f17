#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "symbols/pdb/dbi.h"

namespace mixwalk {

// A call that was inlined.
struct PdbInlineSite {
  std::uint32_t parent = 0;   // 0 for the function itself; otherwise the number of one of its sites, from 1 on
  std::uint32_t inlinee = 0;  // the function that was inlined, in the IPI stream
  std::span<const std::byte> annotations;
};

// A function, or a thunk, which has no sites.
struct PdbFunction {
  std::string_view name;
  std::uint32_t begin = 0, end = 0;  // RVAs; [begin, end)
  std::uint32_t first_site = 0;      // of PdbModuleSymbols::sites
  std::uint32_t site_count = 0;      // each site comes after its parent
};

// Code of a function that the compiler moved away from it.
struct PdbSeparatedCode {
  std::uint32_t begin = 0, end = 0;  // RVAs; [begin, end)
  std::uint32_t function = 0;        // RVA where its function begins
};

// The code symbols of one module. Views point into `records`.
struct PdbModuleSymbols {
  std::vector<PdbFunction> functions;  // in the module's order
  std::vector<PdbInlineSite> sites;
  std::vector<PdbSeparatedCode> separated;
};

// `records` are the symbol records of a module's stream, without the signature before them; `base` is the offset of the
// first record in that stream. Records that are cut off, or whose place lies in no section, are left out.
// (https://llvm.org/docs/PDB/CodeViewSymbols.html; cvinfo.h of microsoft-pdb.) Pure.
PdbModuleSymbols read_module_symbols(std::span<const std::byte> records, std::uint32_t base,
                                     const PdbSections& sections);

}  // namespace mixwalk
