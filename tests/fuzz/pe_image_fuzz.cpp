#include <cstdlib>
#include <span>
#include <vector>

#include "symbols/pe_exports.h"
#include "unmanaged/image/relocations.h"

namespace {

using namespace mixwalk;

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

// Any bytes must give an image or an error; the parsed image must be consistent.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto file =
      std::make_shared<const ImageFile>("", std::vector<std::byte>(bytes.begin(), bytes.end()));
  const PeImage& image = file->image;
  check(!to_string(image.error()).empty());
  if (image.error() != PeError::none) return 0;

  const PeExports exports(file);
  const auto ask = [&](std::uint32_t rva) {
    const auto symbol = exports.find(rva);
    check(!symbol || (symbol->rva <= rva && image.is_code(symbol->rva)));
  };
  std::uint32_t before = 0;
  for (const PeImage::Function& function : image.functions()) {
    check(function.begin >= before && function.begin < function.end);
    before = function.begin;
    ask(function.begin);
    ask(function.end - 1);
    ask(function.end);
  }
  for (const PeExport& found : image.exports()) {
    check((found.rva == 0) == !found.forwarder.empty());
    ask(found.rva);
    ask(found.rva + 5);
  }
  for (const PeSection& section : image.sections()) {
    const auto whole = image.bytes_at(section.rva, section.file_bytes);
    check(!whole || whole->size() <= size);
    ask(section.rva);
  }
  // Any bytes as a table of relocations: they change bytes of the file, and no others.
  std::vector<std::byte> moved(bytes.begin(), bytes.end());
  const PeImage to_move = PeImage::parse(moved);
  for (const PeSection& section : to_move.sections()) {
    relocate(moved, to_move, {section.rva, section.file_bytes}, to_move.preferred_base() + 0x1'0000);
  }
  return 0;
}
