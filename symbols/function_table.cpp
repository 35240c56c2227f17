#include "symbols/function_table.h"

#include <array>
#include <charconv>
#include <string_view>

namespace mixwalk {

std::optional<Symbol> FunctionTable::find(std::uint32_t rva) const {
  const PeImage::Function* const function = file_->image.function_at(rva);
  if (function == nullptr) return std::nullopt;
  const bool has_primary = function->primary != 0 && function->primary <= rva;
  const std::uint32_t begin = has_primary ? function->primary : function->begin;
  std::array<char, 8> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), begin, 16).ptr;
  return Symbol::named(SymbolKind::function_table,
                       "sub_" + std::string(std::string_view(digits.data(), end)), begin);
}

}  // namespace mixwalk
