#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "symbols/image_file.h"
#include "symbols/index/lazy_index.h"
#include "symbols/pe_exports.h"
#include "unmanaged/image/coff_symbols.h"

namespace mixwalk {

// The kind of symbols that named the function at an address.
enum class NameSource : std::uint8_t {
  none,     // no symbols: only the function's start is known
  debug,    // DWARF or PDB
  symbols,  // the linker's symbols in the image
  exports,
};

// Finds everything that is known about one image's code. The sources are asked in this order: the debug information
// (DWARF or PDB, as the caller opened it), the linker's COFF symbols, the exports. Not frozen-safe; one thread at a
// time.
//
// The rules. A COFF symbol names a function only if it is at the function's very start: at the entry that the debug
// information gives, at the start of the primary RUNTIME_FUNCTION, or before a leaf function of which leaf_extent() is
// certain. If the debug information has only the plain name of a function ("run", "operator()": gcc writes no linkage
// name for functions that other units cannot see), a mangled symbol at its entry says more, and is used. So is the
// public symbol of a function in a PDB, since the function's own name has no parameters. If the debug information has a
// line but no function, the line is kept. A part that the compiler moved away ("f.cold") has its function's name.
class NativeSymbols {
 public:
  // `index` is that of the image; it may be null. `symbols` are the linker's symbols, from the file that the debug
  // information came from; if there are none, from the image itself.
  NativeSymbols(std::shared_ptr<const ImageFile> file, std::unique_ptr<LazyIndex> index,
                CoffSymbols symbols = {});

  // Fills `into` even if no symbols have a name: with the function's start by .pdata, and one frame without a name. If
  // not even the start is known, `into.begin` is the address itself. The views in `into` are valid until the next call.
  NameSource find(std::uint32_t rva, SourceLocation& into);
  // Like UnitReader::source_url().
  std::string source_url(std::string_view file) const {
    return index_ != nullptr ? index_->source_url(file) : std::string();
  }
  // The memory in use, without the image's file.
  std::size_t bytes() const noexcept;

 private:
  // Returns the start of a function without unwind data, by the linker's symbols.
  const CoffSymbols::Start* leaf_at(std::uint32_t rva) const;

  std::shared_ptr<const ImageFile> file_;
  std::unique_ptr<LazyIndex> index_;
  CoffSymbols symbols_;
  bool any_mangled_ = false;  // whether symbols_ has any mangled name
  PeExports exports_;
  std::string export_name_;
};

// Whether the name is encoded by a compiler: of C++ (Itanium, MSVC), Rust or D.
bool is_mangled(std::string_view name) noexcept;

}  // namespace mixwalk
