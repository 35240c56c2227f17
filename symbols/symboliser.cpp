#include "symbols/symboliser.h"

#include <algorithm>
#include <array>
#include <charconv>
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

// Returns `found` as a symbol with demangled names. `symbols` have the addresses of source files.
template <class Symbols>
Symbol to_symbol(const SourceLocation& found, SymbolKind kind, const Symbols& symbols) {
  Symbol symbol{.kind = kind, .rva = found.begin, .frames = {}, .folded = found.folded};
  for (const SourceFrame& frame : found.frames) {
    symbol.frames.push_back(
        {demangle(frame.name), std::string(frame.file), frame.line, symbols.source_url(frame.file)});
  }
  if (is_system_call(symbol.frames.back().name)) symbol.folded = 1;
  return symbol;
}

class NativeSource final : public SymbolSource {
 public:
  NativeSource(std::shared_ptr<const ImageFile> file, std::unique_ptr<NativeSymbols> symbols, SymbolKind debug,
               StackTraceMap methods)
      : file_(std::move(file)), symbols_(std::move(symbols)), debug_(debug), methods_(std::move(methods)) {}

  std::optional<Symbol> find(std::uint32_t rva) const override {
    SourceLocation found;
    const NameSource source = symbols_->find(rva, found);
    if (source == NameSource::none && file_->image.function_at(rva) == nullptr) return std::nullopt;
    Symbol symbol = to_symbol(found, kind_of(source, debug_), *symbols_);
    if (std::string method = methods_.name_at(found.begin); !method.empty()) {
      // The PDB has the compiler's form of the same name (S_P_CoreLib_System_Threading_Monitor__Enter), and the lines.
      symbol.kind = SymbolKind::none;
      symbol.managed = true;
      symbol.frames.back().name = std::move(method);
    } else if (source == NameSource::none) {
      symbol.frames.back().name = name_of_begin(found.begin);
    }
    return symbol;
  }
  std::size_t bytes() const noexcept override { return symbols_->bytes() + methods_.bytes(); }

 private:
  std::shared_ptr<const ImageFile> file_;
  std::unique_ptr<NativeSymbols> symbols_;
  SymbolKind debug_;
  StackTraceMap methods_;
};

// The symbols of a PDB whose image is missing.
class PdbSource final : public SymbolSource {
 public:
  explicit PdbSource(std::unique_ptr<LazyIndex> index) : index_(std::move(index)) {}

  std::optional<Symbol> find(std::uint32_t rva) const override {
    SourceLocation found;
    if (!index_->find(rva, found) || found.frames.back().name.empty()) return std::nullopt;
    std::string_view& name = found.frames.back().name;
    if (const std::string_view linked = index_->linkage_name(found.entry, name); !linked.empty()) name = linked;
    return to_symbol(found, SymbolKind::pdb, *index_);
  }
  std::size_t bytes() const noexcept override { return index_->bytes() + index_->reader_bytes(); }

 private:
  std::unique_ptr<LazyIndex> index_;
};

}  // namespace

std::size_t Symboliser::Opened::bytes() const noexcept {
  return (file != nullptr ? file->bytes.size() : 0) + (symbols && *symbols ? (*symbols)->bytes() : 0);
}

std::optional<NamedAddress> Symboliser::name(const LoadedImage& image, CodeAddress code) {
  // The look-up address decides whether the code belongs to the image. The frame's own address may be the first byte
  // behind the image's end.
  const std::uint64_t rva = code.lookup() - image.base;
  if (rva >= image.size) return std::nullopt;
  Opened& known = opened(image);
  if (!known.symbols) known.symbols = open_symbols(known.file, image);
  auto symbol = *known.symbols ? (*known.symbols)->find(static_cast<std::uint32_t>(rva)) : std::nullopt;
  images_.needs(known.bytes());
  if (!symbol) return std::nullopt;
  const std::uint64_t displacement = code.address - image.base - symbol->rva;
  return NamedAddress{std::move(*symbol), displacement};
}

std::vector<std::string> Symboliser::problems() const {
  std::vector<std::string> problems = pdbs_.problems();
  problems.insert(problems.end(), problems_.begin(), problems_.end());
  return problems;
}

Symboliser::Opened& Symboliser::opened(const LoadedImage& image) {
  Opened& known = images_.get({image.path, image.timestamp, image.size, image.code_view},
                              [&] { return Opened{.file = open(image), .symbols = std::nullopt}; });
  images_.needs(known.bytes());
  return known;
}

std::shared_ptr<const ImageFile> Symboliser::open(const LoadedImage& image) {
  for (const std::string& path : image_candidates(image.path, image.timestamp, image.size, path_)) {
    auto bytes = files_.read(path);
    if (!bytes) continue;
    auto file = std::make_shared<const ImageFile>(path, std::move(*bytes));
    if (file->image.error() == PeError::none && file->image.timestamp() == image.timestamp &&
        file->image.size_of_image() == image.size) {
      return file;
    }
  }
  if (auto fetched = fetch_image(servers_, image.path, image.timestamp, image.size)) {
    return std::make_shared<const ImageFile>(fetched->path, std::move(fetched->bytes));
  }
  return nullptr;
}

std::unique_ptr<SymbolSource> Symboliser::open_symbols(const std::shared_ptr<const ImageFile>& file,
                                                       const LoadedImage& image) {
  OpenedPdb pdb = file != nullptr ? pdbs_.open(file) : pdbs_.open(image);
  if (file == nullptr) return pdb.index ? std::make_unique<PdbSource>(std::move(pdb.index)) : nullptr;
  if (pdb.index) {
    auto symbols = std::make_unique<NativeSymbols>(file, std::move(pdb.index));
    return std::make_unique<NativeSource>(file, std::move(symbols), SymbolKind::pdb, open_methods(*file, true));
  }
  DwarfSymbols dwarf = open_dwarf(file, files_);
  if (!dwarf.note.empty()) problems_.insert(dwarf.note);
  auto symbols = std::make_unique<NativeSymbols>(file, std::move(dwarf.index), std::move(dwarf.linked_symbols));
  return std::make_unique<NativeSource>(file, std::move(symbols), SymbolKind::dwarf, open_methods(*file, false));
}

StackTraceMap Symboliser::open_methods(const ImageFile& file, bool has_pdb) {
  // A program of NativeAOT exports this data for debuggers.
  const auto exports = file.image.exports();
  if (std::ranges::find(exports, "DotNetRuntimeDebugHeader", &PeExport::name) == exports.end()) return {};
  const auto parts = StackTraceMap::find(file.image);
  if (!parts) return {};
  StackTraceMap map(*parts);
  map.add_code(file.image, file.bytes);
  if (has_pdb) return map;
  if (map.damaged()) {
    problems_.insert(file.path + ": the map of its methods is damaged, so some of them have no names without its PDB");
  } else if (parts->map.empty()) {
    problems_.insert(file.path + ": most of its methods have no names without its PDB, because it was built with "
                                 "StackTraceSupport=false");
  }
  return map;
}

}  // namespace mixwalk
