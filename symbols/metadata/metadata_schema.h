#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mixwalk {

// The tables of metadata, by their numbers (ECMA-335 II.22; from `document` on, those of portable PDBs).
enum class MetadataTable : std::uint8_t {
  module = 0x00, type_ref = 0x01, type_def = 0x02, field_ptr = 0x03, field = 0x04, method_ptr = 0x05,
  method_def = 0x06, param_ptr = 0x07, param = 0x08, interface_impl = 0x09, member_ref = 0x0A, constant = 0x0B,
  custom_attribute = 0x0C, field_marshal = 0x0D, decl_security = 0x0E, class_layout = 0x0F, field_layout = 0x10,
  stand_alone_sig = 0x11, event_map = 0x12, event_ptr = 0x13, event = 0x14, property_map = 0x15,
  property_ptr = 0x16, property = 0x17, method_semantics = 0x18, method_impl = 0x19, module_ref = 0x1A,
  type_spec = 0x1B, impl_map = 0x1C, field_rva = 0x1D, enc_log = 0x1E, enc_map = 0x1F, assembly = 0x20,
  assembly_processor = 0x21, assembly_os = 0x22, assembly_ref = 0x23, assembly_ref_processor = 0x24,
  assembly_ref_os = 0x25, file = 0x26, exported_type = 0x27, manifest_resource = 0x28, nested_class = 0x29,
  generic_param = 0x2A, method_spec = 0x2B, generic_param_constraint = 0x2C,
  document = 0x30, method_debug_information = 0x31, local_scope = 0x32, local_variable = 0x33,
  local_constant = 0x34, import_scope = 0x35, state_machine_method = 0x36, custom_debug_information = 0x37,
};
inline constexpr std::size_t kMetadataTables = 64;  // as many as the mask of tables has bits

// A token names a row of a table: the table's number is its highest byte, and the row, from 1 on, is the rest.
constexpr std::uint32_t metadata_token(MetadataTable table, std::uint32_t row) {
  return static_cast<std::uint32_t>(table) << 24 | row;
}
constexpr bool is_of_table(std::uint32_t token, MetadataTable table) {
  return token >> 24 == static_cast<std::uint32_t>(table);
}
constexpr std::uint32_t row_of(std::uint32_t token) { return token & 0x00FF'FFFF; }

// The kinds of coded indexes (II.24.2.6): an index into one of a few tables, which the lowest bits name.
enum class CodedIndex : std::uint8_t {
  type_def_or_ref, has_constant, has_custom_attribute, has_field_marshal, has_decl_security, member_ref_parent,
  has_semantics, method_def_or_ref, member_forwarded, implementation, custom_attribute_type, resolution_scope,
  type_or_method_def, has_custom_debug_information,
};
// The tables of a kind, in the order of the values of its lowest bits. Values that mean nothing have kNoTable.
inline constexpr std::uint8_t kNoTable = 0xFF;
std::span<const std::uint8_t> tables_of(CodedIndex kind) noexcept;
// How many bits name the table.
unsigned tag_bits(CodedIndex kind) noexcept;

// A column of a table. `of`: which table, or which kind of coded index.
struct MetadataColumn {
  enum class Kind : std::uint8_t { none, u16, u32, string, guid, blob, row, coded };
  Kind kind = Kind::none;
  std::uint8_t of = 0;
};
// The columns of a table. A number that is no table has none.
std::span<const MetadataColumn> columns_of(MetadataTable table) noexcept;

}  // namespace mixwalk
