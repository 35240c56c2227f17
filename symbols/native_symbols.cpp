#include "symbols/native_symbols.h"

#include <algorithm>
#include <utility>

#include "symbols/leaf_extent.h"

namespace mixwalk {

bool is_mangled(std::string_view name) noexcept {
  if (name.starts_with("_Z") || name.starts_with('?')) return true;
  if (name.size() < 3) return false;
  // The letters that may follow distinguish such a name from plain names that begin alike: "_Rb_tree", "_Destroy".
  return (name.starts_with("_R") && std::string_view("CMXYNIB").find(name[2]) != std::string_view::npos) ||
         (name.starts_with("_D") && name[2] >= '0' && name[2] <= '9');
}

// The linker's name of a part that gcc or LLVM moved away from its function is "f.cold". The part has its function's
// name, since the code goes there by a jump. "f.part.0" is a function of its own, which is called, and so may be
// "f.cold.1": LLVM calls such functions so, and GCC 8 such parts.
static std::string_view function_of_part(std::string_view name) {
  constexpr std::string_view kCold = ".cold";
  if (name.size() > kCold.size() && name.ends_with(kCold)) name.remove_suffix(kCold.size());
  return name;
}

NativeSymbols::NativeSymbols(std::shared_ptr<const ImageFile> file, std::unique_ptr<LazyIndex> index,
                             CoffSymbols symbols)
    : file_(std::move(file)), index_(std::move(index)), symbols_(std::move(symbols)), exports_(file_) {
  if (symbols_.starts().empty()) symbols_ = CoffSymbols(CoffFile::parse(file_->bytes));
  any_mangled_ = std::any_of(symbols_.starts().begin(), symbols_.starts().end(),
                             [](const CoffSymbols::Start& start) { return is_mangled(start.name); });
}

NameSource NativeSymbols::find(std::uint32_t rva, SourceLocation& into) {
  if (index_ != nullptr && index_->find(rva, into)) {
    SourceFrame& function = into.frames.back();
    if (function.name.empty() || (any_mangled_ && !is_mangled(function.name))) {
      const std::string_view name = function_of_part(symbols_.name_at(into.begin));
      if (!name.empty() && (function.name.empty() || is_mangled(name))) function.name = name;
    }
    if (const std::string_view name = index_->linkage_name(into.entry, function.name); !name.empty()) {
      function.name = name;
    }
    if (!function.name.empty()) return NameSource::debug;
  } else {
    into = {.begin = rva, .folded = 1, .frames = std::move(into.frames)};
    into.frames.assign(1, SourceFrame());
    if (index_ != nullptr) index_->find_line(rva, into.frames[0]);
  }
  std::string_view& name = into.frames.back().name;
  const PeImage::Function* const function = file_->image.function_at(rva);
  if (function != nullptr) {
    if (function->primary != 0 && function->primary <= rva) {
      // Assembly code may have one entry of .pdata for two functions, and nothing says where the first one ends.
      const CoffSymbols::Start* const last = symbols_.function_before(rva);
      if (last == nullptr || last->rva <= function->primary) name = symbols_.name_at(function->primary);
      into.begin = function->primary;
    } else {
      into.begin = function->begin;  // a part that lies before the function itself
    }
  } else if (const CoffSymbols::Start* const leaf = leaf_at(rva)) {
    name = leaf->name;
    into.begin = leaf->rva;
  }
  name = function_of_part(name);
  if (!name.empty()) return NameSource::symbols;
  auto symbol = exports_.find(rva);
  if (!symbol) return NameSource::none;
  export_name_ = std::move(symbol->frames.back().name);
  name = export_name_;
  into.begin = symbol->rva;
  return NameSource::exports;
}

std::size_t NativeSymbols::bytes() const noexcept {
  const std::size_t starts = symbols_.starts().size() * sizeof(CoffSymbols::Start);
  return starts + (index_ != nullptr ? index_->bytes() + index_->reader_bytes() : 0);
}

// The rule for exports applies (see PeExports): being in the same gap of .pdata is not enough.
const CoffSymbols::Start* NativeSymbols::leaf_at(std::uint32_t rva) const {
  const PeImage& image = file_->image;
  const CoffSymbols::Start* const start = symbols_.function_before(rva);
  if (start == nullptr || image.function_at(start->rva) != nullptr) return nullptr;
  // Only the code up to the address is read, because the bytes behind it do not change to which function it belongs.
  const std::uint32_t at = rva - start->rva;
  return at < leaf_bytes(image, start->rva, at + 1) ? start : nullptr;
}

}  // namespace mixwalk
