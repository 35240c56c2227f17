#include <cstdlib>
#include <span>
#include <vector>

#include "symbols/byte_cursor.h"
#include "symbols/pdb/inline_tree.h"
#include "symbols/pdb/module_lines.h"
#include "symbols/pdb/module_symbols.h"

namespace {

using namespace mixwalk;

void check(bool holds) {
  if (!holds) std::abort();
}

// Checks that pieces follow each other, and that each has a chain.
class CheckingSink final : public ChainSink {
 public:
  void piece(std::uint32_t begin, std::uint32_t end, std::span<const ChainStep> chain) override {
    check(begin == end_ && begin < end);
    check(!chain.empty() && chain.front().scope == 0 && chain.size() <= SymbolIndex::kMaxDepth);
    end_ = end;
  }
  std::uint32_t end_ = 0;
};

}  // namespace

// The input has the parts of a module's stream, without the container around them: two bytes with the length of the
// symbols, the symbols, the lines.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ByteCursor input(std::as_bytes(std::span(data, size)));
  const auto records = input.take(input.u16());
  const auto c13 = input.rest();
  PdbSections sections;
  sections.add(0x1000, 0x10000, true);
  sections.add(0xFFFFF000, 0xFFFFFFFF, true);

  const PdbModuleLines lines = read_module_lines(c13, sections);
  std::uint32_t before = 0;
  for (const PdbLineSequence& sequence : lines.sequences) {
    check(sequence.begin >= before && sequence.begin < sequence.end);
    before = sequence.begin;
    check(sequence.first + sequence.count <= lines.lines.size());
    std::uint32_t row_before = sequence.begin;
    for (const PdbLine& row : std::span(lines.lines).subspan(sequence.first, sequence.count)) {
      check(row.rva >= row_before && row.rva < sequence.end);
      row_before = row.rva;
      lines.path_of(row.file);
    }
  }

  const PdbModuleSymbols symbols = read_module_symbols(records, 4, sections);
  for (const PdbFunction& function : symbols.functions) {
    check(function.begin < function.end && function.first_site + function.site_count <= symbols.sites.size());
    std::vector<std::uint32_t> parents(1);
    std::vector<ScopedCode> code;
    std::vector<PlacedCode> placed;
    for (std::uint32_t i = 0; i < function.site_count; ++i) {
      const PdbInlineSite& site = symbols.sites[function.first_site + i];
      check(site.parent <= i);
      parents.push_back(site.parent);
      placed.clear();
      read_annotations(site.annotations, 0, 1, placed);
      std::uint32_t end = 0;
      for (const PlacedCode& one : placed) {
        check(one.begin >= end && one.begin < one.end);
        end = one.end;
        code.push_back({one, i + 1});
      }
    }
    CheckingSink sink;
    cut_into_chains(function.end - function.begin, parents, std::move(code), sink);
    check(sink.end_ == function.end - function.begin);
  }
  return 0;
}
