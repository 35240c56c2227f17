#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "symbols/pdb/dbi.h"
#include "unmanaged/image/pe_image.h"

namespace mixwalk {

// The public symbols of code, which are the linker's names. They have no length. Not frozen-safe.
//
// Assemblers do not say what a symbol is: it may be a function, a label inside one, or data among the code. Such a
// symbol counts only in a section of code, if .pdata does not say that it lies inside a function, if its name is not
// that of data, and if it is the only kind of symbol at its place. So it needs the image.
class PdbPublics {
 public:
  struct Public {
    std::uint32_t rva = 0;
    std::string_view name;  // decorated; valid as long as the PdbPublics and the file
  };

  PdbPublics() = default;
  // Reads the records of stream dbi.symbol_stream. `image` may be null.
  PdbPublics(const MsfFile& msf, const PdbDbi& dbi, const PeImage* image);

  // Sorted by RVA; symbols with the same RVA are sorted by length, the shortest first, and then by the alphabet.
  std::span<const Public> all() const noexcept { return all_; }
  // The symbols in [begin, end).
  std::span<const Public> in(std::uint32_t begin, std::uint32_t end) const noexcept;
  // How many different functions have exactly this entry, since the linker folded equal functions; 1 if no others are
  // known. Constructors and destructors, which have two names for the same code in the Itanium ABI, count once.
  std::uint32_t functions_at(std::uint32_t rva) const noexcept;

 private:
  void count_folded();
  void add_unmarked(std::vector<Public> unmarked);

  MsfBytes bytes_;
  std::vector<Public> all_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> folded_;  // RVA and number of functions, for RVAs with several
};

}  // namespace mixwalk
