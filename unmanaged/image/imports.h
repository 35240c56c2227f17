#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "unmanaged/image/pe_image.h"

namespace mixwalk {

// A function that an image imports, and the slot in its data through which it is called.
struct Import {
  std::uint32_t slot = 0;  // RVA of the 8 bytes that the loader, or the first call, fills
  std::string_view image;  // "KERNEL32.dll", as the importing image has it
  std::string_view name;   // empty if the function is imported by its ordinal
  std::uint16_t ordinal = 0;
  // The import is delay-loaded: until the first call has been made, the slot leads to code of the importing image
  // itself.
  bool delayed = false;
};

// The import tables of an image, both the loader's table and the table of delayed loads. Not frozen-safe; views point
// into the image's file. Nothing is trusted: entries that do not fit are left out, and if tables share their bytes, no
// more than a million entries are read. (Microsoft PE and COFF specification: ".idata", "Delay-Load Import Tables".)
class Imports {
 public:
  explicit Imports(const PeImage& image);

  // Sorted by slot.
  std::span<const Import> all() const noexcept { return imports_; }
  // Returns null if no import has this slot.
  const Import* at(std::uint32_t slot) const noexcept;

 private:
  std::vector<Import> imports_;
};

}  // namespace mixwalk
