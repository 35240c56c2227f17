#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "symbols/pdb/cross_module.h"
#include "symbols/pdb/dbi.h"

namespace mixwalk {

// The line of code from an RVA up to the next row or to the end of the sequence.
struct PdbLine {
  std::uint32_t rva = 0;
  std::uint32_t file = 0;  // an offset in the module's list of files
  std::uint32_t line = 0;  // 0 if no line made this code
};

// Lines of a piece of code, which is usually a function.
struct PdbLineSequence {
  std::uint32_t begin = 0, end = 0;      // RVAs; [begin, end)
  std::uint32_t first = 0, count = 0;    // of PdbModuleLines::lines, sorted by RVA
};

// The place in the source where an inlined function begins.
struct PdbInlinee {
  std::uint32_t file = 0, line = 0;
};

// The content of a module's C13 line information. Views point into the bytes that were read.
struct PdbModuleLines {
  std::vector<PdbLine> lines;
  std::vector<PdbLineSequence> sequences;  // sorted by begin
  std::unordered_map<std::uint32_t, PdbInlinee> inlinees;  // by number in the IPI stream, or by import
  std::vector<PdbImport> imports;
  std::span<const std::byte> files;

  // Returns the path of a file, as an offset in "/names"; nothing if the list has no such file.
  std::optional<std::uint32_t> path_of(std::uint32_t file) const noexcept;
};

// `c13` is the part of a module's stream behind its symbols. Damaged parts are left out.
// (https://llvm.org/docs/PDB/ModiStream.html; cvinfo.h of microsoft-pdb.) Pure.
PdbModuleLines read_module_lines(std::span<const std::byte> c13, const PdbSections& sections);

}  // namespace mixwalk
