#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mixwalk {

// A range of code that came from one place of the source.
struct PlacedCode {
  std::uint32_t begin = 0, end = 0;  // offsets in the function; [begin, end)
  std::uint32_t file = 0;            // an offset in the module's list of files
  std::uint32_t line = 0;
  bool operator==(const PlacedCode&) const = default;
};

// Appends to `into` the code of one inlined call, by the binary annotations of an S_INLINESITE: a small program that
// moves through the code and the source. The inlined function begins at `file` and `line`. The result is sorted and
// disjoint. Annotations are read up to the first place that is damaged or describes separated code. Pure; time and
// memory are proportional to the annotations.
//
// Source of the format: cvinfo.h of Microsoft's microsoft-pdb. Folklore, seen in the output of MSVC and LLVM and
// documented by neither: a code offset counts from the end of the code before it if a ChangeCodeLength gave that end,
// and otherwise from its start. (Oracle: pdb_oracle_test.)
void read_annotations(std::span<const std::byte> annotations, std::uint32_t file, std::uint32_t line,
                      std::vector<PlacedCode>& into);

}  // namespace mixwalk
