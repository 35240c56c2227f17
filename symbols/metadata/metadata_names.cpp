#include "symbols/metadata/metadata_names.h"

#include <algorithm>

namespace mixwalk {
namespace {

using T = MetadataTable;

// MAX_CLASS_NAME of the CLR, in UTF-16 characters, with the zero at the end.
constexpr std::size_t kNameUnits = 1024;
// The limit for types inside types. It also ends the search in metadata that is circular.
constexpr int kMaxNesting = 32;
constexpr std::uint32_t kImported = 0x1000;  // TypeAttributes.Import, II.23.1.15
// The limit for attributes of one assembly. Real ones have some ten.
constexpr std::uint32_t kMaxAttributes = 1024;

// The runtime's reader cuts names at its limit. A name that was cut ends with "…", since another name may begin in the
// same way.
std::string cut(std::string name) {
  std::size_t units = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    const auto byte = static_cast<unsigned char>(name[at]);
    if ((byte & 0xC0) == 0x80) continue;
    units += byte >= 0xF0 ? 2 : 1;
    if (units >= kNameUnits) return name.substr(0, at) + "…";
  }
  return name;
}

std::string nested(std::string outer, const std::string& inner) {
  return outer.empty() ? inner : std::move(outer) + '+' + inner;
}

}  // namespace

std::string MetadataNames::text(MetadataTable table, std::uint32_t row, unsigned column) const {
  const auto index = tables_.cell(table, row, column);
  return index ? tables_.text(*index).value_or("") : std::string();
}

std::string MetadataNames::name_in_namespace(MetadataTable table, std::uint32_t row, unsigned name) const {
  std::string text = this->text(table, row, name);
  const std::string space = this->text(table, row, name + 1);
  return cut(space.empty() || text.empty() ? text : space + '.' + text);
}

std::string MetadataNames::type_name(std::uint32_t token) const {
  if (is_of_table(token, T::type_def)) return type_def_name(row_of(token), 0);
  if (is_of_table(token, T::type_ref)) return type_ref_name(row_of(token), 0);
  return {};
}

std::string MetadataNames::type_def_name(std::uint32_t row, int depth) const {
  constexpr unsigned kName = 1, kNested = 0, kEnclosing = 1;
  if (depth > kMaxNesting) return {};
  std::string name = name_in_namespace(T::type_def, row, kName);
  const std::uint32_t nesting = name.empty() ? 0 : tables_.find_row(T::nested_class, kNested, row);
  if (nesting == 0) return name;
  const auto outer = tables_.cell(T::nested_class, nesting, kEnclosing);
  return outer && *outer != 0 ? nested(type_def_name(*outer, depth + 1), name) : name;
}

std::string MetadataNames::type_ref_name(std::uint32_t row, int depth) const {
  constexpr unsigned kScope = 0, kName = 1;
  if (depth > kMaxNesting) return {};
  std::string name = name_in_namespace(T::type_ref, row, kName);
  const auto scope = tables_.cell(T::type_ref, row, kScope);
  if (name.empty() || !scope || !is_of_table(*scope, T::type_ref)) return name;
  return nested(type_ref_name(row_of(*scope), depth + 1), name);
}

// Each type has the methods from its MethodList on, up to that of the next type. Metadata that was written while the
// program ran (#-) numbers them through a table of their own.
std::uint32_t MetadataNames::type_of_method(std::uint32_t row) const {
  constexpr unsigned kMethods = 5, kPointedTo = 0;
  if (tables_.rows(T::method_ptr) != 0) row = tables_.find_row(T::method_ptr, kPointedTo, row);
  return row == 0 ? 0 : tables_.last_row_up_to(T::type_def, kMethods, row);
}

std::optional<MetadataNames::Method> MetadataNames::method(std::uint32_t token) const {
  constexpr unsigned kName = 3, kSignature = 4;
  if (!is_of_table(token, T::method_def)) return std::nullopt;
  const auto index = tables_.cell(T::method_def, row_of(token), kSignature);
  auto signature = index ? tables_.blob(*index) : std::nullopt;
  Method method{.name = cut(text(T::method_def, row_of(token), kName)), .signature = {}};
  if (!signature || method.name.empty()) return std::nullopt;
  method.signature = std::move(*signature);
  if (const std::uint32_t type = type_of_method(row_of(token))) method.type = metadata_token(T::type_def, type);
  return method;
}

std::uint32_t MetadataNames::method_named(std::uint32_t type, std::string_view name) const {
  constexpr unsigned kMethods = 5, kName = 3;
  if (!is_of_table(type, T::type_def) || tables_.rows(T::method_ptr) != 0) return 0;
  const auto first = tables_.cell(T::type_def, row_of(type), kMethods);
  const std::uint32_t rows = tables_.rows(T::method_def);
  const std::uint32_t end = tables_.cell(T::type_def, row_of(type) + 1, kMethods).value_or(rows + 1);
  for (std::uint32_t row = first.value_or(end); row < end && row <= rows; ++row) {
    if (text(T::method_def, row, kName) == name) return metadata_token(T::method_def, row);
  }
  return 0;
}

std::string MetadataNames::field_name(std::uint32_t token) const {
  constexpr unsigned kName = 1;
  return is_of_table(token, T::field) ? cut(text(T::field, row_of(token), kName)) : std::string();
}

std::vector<std::byte> MetadataNames::field_signature(std::uint32_t token) const {
  constexpr unsigned kSignature = 2;
  const auto index = is_of_table(token, T::field) ? tables_.cell(T::field, row_of(token), kSignature) : std::nullopt;
  return index ? tables_.blob(*index).value_or(std::vector<std::byte>()) : std::vector<std::byte>();
}

std::string MetadataNames::generic_parameter_name(std::uint32_t token) const {
  constexpr unsigned kName = 3;
  return is_of_table(token, T::generic_param) ? cut(text(T::generic_param, row_of(token), kName)) : std::string();
}

std::string MetadataNames::import_of(std::uint32_t method) const {
  constexpr unsigned kMember = 1, kEntry = 2, kLibrary = 3, kName = 0;
  const std::uint32_t row = tables_.find_row(T::impl_map, kMember, method);
  const auto library = tables_.cell(T::impl_map, row, kLibrary);
  if (!library) return {};
  const std::string entry = cut(text(T::impl_map, row, kEntry)), from = cut(text(T::module_ref, *library, kName));
  return from.empty() || entry.empty() ? std::string() : from + '!' + entry;
}

bool MetadataNames::is_com_type(std::uint32_t type) const {
  constexpr unsigned kFlags = 0;
  if (!is_of_table(type, T::type_def)) return false;
  return (tables_.cell(T::type_def, row_of(type), kFlags).value_or(0) & kImported) != 0;
}

std::optional<std::array<std::byte, 16>> MetadataNames::mvid() const noexcept {
  constexpr unsigned kMvid = 2;
  const auto index = tables_.cell(T::module, 1, kMvid);
  return index ? tables_.guid(*index) : std::nullopt;
}

std::string MetadataNames::assembly_name() const {
  constexpr unsigned kName = 7;
  return text(T::assembly, 1, kName);
}

std::vector<std::byte> MetadataNames::assembly_attribute(std::string_view type) const {
  constexpr unsigned kParent = 0, kConstructor = 1, kValue = 2, kMemberParent = 0;
  const std::uint32_t assembly = metadata_token(T::assembly, 1);
  std::uint32_t row = tables_.find_row(T::custom_attribute, kParent, assembly);
  for (std::uint32_t i = 0; i < kMaxAttributes && row != 0 && row <= tables_.rows(T::custom_attribute); ++i, ++row) {
    if (tables_.cell(T::custom_attribute, row, kParent) != assembly) continue;
    const std::uint32_t constructor = tables_.cell(T::custom_attribute, row, kConstructor).value_or(0);
    std::uint32_t of = 0;
    if (is_of_table(constructor, T::member_ref)) {
      of = tables_.cell(T::member_ref, row_of(constructor), kMemberParent).value_or(0);
    } else if (is_of_table(constructor, T::method_def)) {
      of = metadata_token(T::type_def, type_of_method(row_of(constructor)));
    }
    if (type_name(of) != type) continue;
    const auto value = tables_.cell(T::custom_attribute, row, kValue);
    return value ? tables_.blob(*value).value_or(std::vector<std::byte>()) : std::vector<std::byte>();
  }
  return {};
}

}  // namespace mixwalk
