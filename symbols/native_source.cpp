#include "symbols/native_source.h"

#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "symbols/demangle/demangle.h"
#include "symbols/dwarf/dwarf_symbols.h"
#include "symbols/native_symbols.h"

namespace mixwalk {
namespace {

// `debug` is the kind of the image's debug information.
SymbolKind kind_of(NameSource source, SymbolKind debug) noexcept {
  switch (source) {
    case NameSource::none: return SymbolKind::function_table;
    case NameSource::debug: return debug;
    case NameSource::symbols: return SymbolKind::coff;
    case NameSource::exports: return SymbolKind::exported;
  }
  return SymbolKind::none;
}

std::string name_of_begin(std::uint32_t rva) {
  std::array<char, 8> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), rva, 16).ptr;
  return "sub_" + std::string(std::string_view(digits.data(), end));
}

// Each of ntdll's system calls has two names, such as NtClose and ZwClose, so two names do not mean that functions were
// folded.
bool is_system_call(std::string_view name) { return name.starts_with("Nt") || name.starts_with("Zw"); }

// Returns `found` as a symbol with demangled names.
Symbol to_symbol(const SourceLocation& found, SymbolKind kind) {
  Symbol symbol{.kind = kind, .rva = found.begin, .frames = {}, .folded = found.folded};
  for (const SourceFrame& frame : found.frames) {
    symbol.frames.push_back({demangle(frame.name), std::string(frame.file), frame.line});
  }
  if (is_system_call(symbol.frames.back().name)) symbol.folded = 1;
  return symbol;
}

class NativeSource final : public SymbolSource {
 public:
  NativeSource(std::shared_ptr<const ImageFile> file, std::unique_ptr<NativeSymbols> symbols,
               SymbolKind debug)
      : file_(std::move(file)), symbols_(std::move(symbols)), debug_(debug) {}

  std::optional<Symbol> find(std::uint32_t rva) const override {
    SourceLocation found;
    const NameSource source = symbols_->find(rva, found);
    if (source == NameSource::none && file_->image.function_at(rva) == nullptr) return std::nullopt;
    Symbol symbol = to_symbol(found, kind_of(source, debug_));
    if (source == NameSource::none) symbol.frames.back().name = name_of_begin(found.begin);
    return symbol;
  }
  std::size_t bytes() const noexcept override { return symbols_->bytes(); }

 private:
  std::shared_ptr<const ImageFile> file_;
  std::unique_ptr<NativeSymbols> symbols_;
  SymbolKind debug_;
};

// The symbols of a PDB whose image is missing.
class PdbSource final : public SymbolSource {
 public:
  explicit PdbSource(std::unique_ptr<LazyIndex> index) : index_(std::move(index)) {}

  std::optional<Symbol> find(std::uint32_t rva) const override {
    SourceLocation found;
    if (!index_->find(rva, found) || found.frames.back().name.empty()) return std::nullopt;
    return to_symbol(found, SymbolKind::pdb);
  }
  std::size_t bytes() const noexcept override { return index_->bytes() + index_->reader_bytes(); }

 private:
  std::unique_ptr<LazyIndex> index_;
};

}  // namespace

std::unique_ptr<SymbolSource> NativeSources::open_without_image(const LoadedImage& image) {
  OpenedPdb pdb = pdbs_.open(image);
  return pdb.index ? std::make_unique<PdbSource>(std::move(pdb.index)) : nullptr;
}

std::unique_ptr<SymbolSource> NativeSources::open(std::shared_ptr<const ImageFile> file) {
  if (OpenedPdb pdb = pdbs_.open(file); pdb.index) {
    auto symbols = std::make_unique<NativeSymbols>(file, std::move(pdb.index));
    return std::make_unique<NativeSource>(std::move(file), std::move(symbols), SymbolKind::pdb);
  }
  DwarfSymbols dwarf = open_dwarf(file, files_);
  auto symbols = std::make_unique<NativeSymbols>(file, std::move(dwarf.index), std::move(dwarf.linked_symbols));
  return std::make_unique<NativeSource>(std::move(file), std::move(symbols), SymbolKind::dwarf);
}

}  // namespace mixwalk
