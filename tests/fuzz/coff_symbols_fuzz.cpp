#include <cstdlib>
#include <span>

#include "unmanaged/image/coff_symbols.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

// Any bytes must give a COFF file or an error, and the file's symbols must be consistent.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mixwalk;
  const CoffFile file = CoffFile::parse(std::as_bytes(std::span(data, size)));
  for (const CoffSection& section : file.sections()) check(section.data.size() <= size);
  const CoffSymbols symbols(file);
  const CoffSymbols::Start* before = nullptr;
  for (const CoffSymbols::Start& start : symbols.starts()) {
    check(!start.name.empty() && symbols.name_at(start.rva) == start.name);
    check(before == nullptr || before->rva < start.rva);
    before = &start;
    const CoffSymbols::Start* const function = symbols.function_before(start.rva);
    check(function == nullptr || function->rva <= start.rva);
  }
  return 0;
}
