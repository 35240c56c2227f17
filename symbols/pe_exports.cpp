#include "symbols/pe_exports.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "symbols/leaf_extent.h"

namespace mixwalk {
namespace {

// A smaller rank is better. The ordinal makes the choice among exports without names the same each time.
auto rank(const PeExport& found) {
  const bool decorated =
      found.name.starts_with('_') || found.name.starts_with('?') || found.name.starts_with('@');
  return std::tuple(found.name.empty(), decorated, found.name.size(), found.name, found.ordinal);
}

}  // namespace

PeExports::PeExports(std::shared_ptr<const ImageFile> file) : file_(std::move(file)) {
  for (const PeExport& found : file_->image.exports()) {
    if (found.rva == 0 || !file_->image.is_code(found.rva)) continue;
    if (starts_.empty() || starts_.back().rva != found.rva) {
      starts_.push_back(found);
    } else if (rank(found) < rank(starts_.back())) {
      starts_.back() = found;
    }
  }
  for (const PeExport& start : starts_) {
    const PeImage::Function* function = file_->image.function_at(start.rva);
    if (function != nullptr && function->primary != start.rva) {
      inner_.try_emplace(function->primary, start.rva);
    }
  }
}

std::optional<Symbol> PeExports::find(std::uint32_t rva) const {
  const PeImage::Function* function = file_->image.function_at(rva);
  const PeExport* found = function != nullptr ? of_function(*function, rva) : of_leaf(rva);
  if (found == nullptr) return std::nullopt;
  return Symbol::named(
      SymbolKind::exported,
      found->name.empty() ? '#' + std::to_string(found->ordinal) : std::string(found->name), found->rva);
}

const PeExport* PeExports::nearest(std::uint32_t rva) const {
  const auto after = std::upper_bound(
      starts_.begin(), starts_.end(), rva,
      [](std::uint32_t value, const PeExport& found) { return value < found.rva; });
  return after == starts_.begin() ? nullptr : &*(after - 1);
}

const PeExport* PeExports::of_function(const PeImage::Function& function, std::uint32_t rva) const {
  if (rva < function.primary) return nullptr;
  const PeExport* found = nearest(function.primary);
  if (found == nullptr || found->rva != function.primary) return nullptr;
  const auto inner = inner_.find(function.primary);
  return inner != inner_.end() && inner->second <= rva ? nullptr : found;
}

const PeExport* PeExports::of_leaf(std::uint32_t rva) const {
  const PeImage& image = file_->image;
  const PeExport* found = nearest(rva);
  if (found == nullptr || image.function_at(found->rva) != nullptr) return nullptr;
  return rva - found->rva < leaf_bytes(image, found->rva, UINT32_MAX) ? found : nullptr;
}

}  // namespace mixwalk
