#include "symbols/metadata/metadata_schema.h"

#include <algorithm>
#include <array>
#include <bit>

namespace mixwalk {
namespace {

using T = MetadataTable;

constexpr std::size_t kMaxColumns = 9;  // those of Assembly and AssemblyRef
using Columns = std::array<MetadataColumn, kMaxColumns>;

constexpr MetadataColumn kU16{MetadataColumn::Kind::u16}, kU32{MetadataColumn::Kind::u32},
    kString{MetadataColumn::Kind::string}, kGuid{MetadataColumn::Kind::guid}, kBlob{MetadataColumn::Kind::blob};

constexpr MetadataColumn row(T table) { return {MetadataColumn::Kind::row, static_cast<std::uint8_t>(table)}; }
constexpr MetadataColumn coded(CodedIndex kind) {
  return {MetadataColumn::Kind::coded, static_cast<std::uint8_t>(kind)};
}

constexpr std::array<Columns, kMetadataTables> kColumns = [] {
  using enum CodedIndex;
  std::array<Columns, kMetadataTables> all{};
  const auto set = [&](T table, Columns columns) { all[static_cast<std::size_t>(table)] = columns; };
  set(T::module, {kU16, kString, kGuid, kGuid, kGuid});
  set(T::type_ref, {coded(resolution_scope), kString, kString});
  set(T::type_def, {kU32, kString, kString, coded(type_def_or_ref), row(T::field), row(T::method_def)});
  set(T::field_ptr, {row(T::field)});
  set(T::field, {kU16, kString, kBlob});
  set(T::method_ptr, {row(T::method_def)});
  set(T::method_def, {kU32, kU16, kU16, kString, kBlob, row(T::param)});
  set(T::param_ptr, {row(T::param)});
  set(T::param, {kU16, kU16, kString});
  set(T::interface_impl, {row(T::type_def), coded(type_def_or_ref)});
  set(T::member_ref, {coded(member_ref_parent), kString, kBlob});
  set(T::constant, {kU16, coded(has_constant), kBlob});
  set(T::custom_attribute, {coded(has_custom_attribute), coded(custom_attribute_type), kBlob});
  set(T::field_marshal, {coded(has_field_marshal), kBlob});
  set(T::decl_security, {kU16, coded(has_decl_security), kBlob});
  set(T::class_layout, {kU16, kU32, row(T::type_def)});
  set(T::field_layout, {kU32, row(T::field)});
  set(T::stand_alone_sig, {kBlob});
  set(T::event_map, {row(T::type_def), row(T::event)});
  set(T::event_ptr, {row(T::event)});
  set(T::event, {kU16, kString, coded(type_def_or_ref)});
  set(T::property_map, {row(T::type_def), row(T::property)});
  set(T::property_ptr, {row(T::property)});
  set(T::property, {kU16, kString, kBlob});
  set(T::method_semantics, {kU16, row(T::method_def), coded(has_semantics)});
  set(T::method_impl, {row(T::type_def), coded(method_def_or_ref), coded(method_def_or_ref)});
  set(T::module_ref, {kString});
  set(T::type_spec, {kBlob});
  set(T::impl_map, {kU16, coded(member_forwarded), kString, row(T::module_ref)});
  set(T::field_rva, {kU32, row(T::field)});
  set(T::enc_log, {kU32, kU32});
  set(T::enc_map, {kU32});
  set(T::assembly, {kU32, kU16, kU16, kU16, kU16, kU32, kBlob, kString, kString});
  set(T::assembly_processor, {kU32});
  set(T::assembly_os, {kU32, kU32, kU32});
  set(T::assembly_ref, {kU16, kU16, kU16, kU16, kU32, kBlob, kString, kString, kBlob});
  set(T::assembly_ref_processor, {kU32, row(T::assembly_ref)});
  set(T::assembly_ref_os, {kU32, kU32, kU32, row(T::assembly_ref)});
  set(T::file, {kU32, kString, kBlob});
  set(T::exported_type, {kU32, kU32, kString, kString, coded(implementation)});
  set(T::manifest_resource, {kU32, kU32, kString, coded(implementation)});
  set(T::nested_class, {row(T::type_def), row(T::type_def)});
  set(T::generic_param, {kU16, kU16, coded(type_or_method_def), kString});
  set(T::method_spec, {coded(method_def_or_ref), kBlob});
  set(T::generic_param_constraint, {row(T::generic_param), coded(type_def_or_ref)});
  set(T::document, {kBlob, kGuid, kBlob, kGuid});
  set(T::method_debug_information, {row(T::document), kBlob});
  set(T::local_scope, {row(T::method_def), row(T::import_scope), row(T::local_variable), row(T::local_constant),
                       kU32, kU32});
  set(T::local_variable, {kU16, kU16, kString});
  set(T::local_constant, {kString, kBlob});
  set(T::import_scope, {row(T::import_scope), kBlob});
  set(T::state_machine_method, {row(T::method_def), row(T::method_def)});
  set(T::custom_debug_information, {coded(has_custom_debug_information), kGuid, kBlob});
  return all;
}();

constexpr std::uint8_t n(T table) { return static_cast<std::uint8_t>(table); }

constexpr std::uint8_t kTypeDefOrRef[] = {n(T::type_def), n(T::type_ref), n(T::type_spec)};
constexpr std::uint8_t kHasConstant[] = {n(T::field), n(T::param), n(T::property)};
// Those of HasCustomAttribute are also the first of HasCustomDebugInformation.
constexpr std::uint8_t kHasCustomDebugInformation[] = {
    n(T::method_def), n(T::field), n(T::type_ref), n(T::type_def), n(T::param), n(T::interface_impl),
    n(T::member_ref), n(T::module), n(T::decl_security), n(T::property), n(T::event), n(T::stand_alone_sig),
    n(T::module_ref), n(T::type_spec), n(T::assembly), n(T::assembly_ref), n(T::file), n(T::exported_type),
    n(T::manifest_resource), n(T::generic_param), n(T::generic_param_constraint), n(T::method_spec),
    n(T::document), n(T::local_scope), n(T::local_variable), n(T::local_constant), n(T::import_scope)};
constexpr std::size_t kWithCustomAttributes = 22;
constexpr std::uint8_t kHasFieldMarshal[] = {n(T::field), n(T::param)};
constexpr std::uint8_t kHasDeclSecurity[] = {n(T::type_def), n(T::method_def), n(T::assembly)};
constexpr std::uint8_t kMemberRefParent[] = {n(T::type_def), n(T::type_ref), n(T::module_ref), n(T::method_def),
                                             n(T::type_spec)};
constexpr std::uint8_t kHasSemantics[] = {n(T::event), n(T::property)};
constexpr std::uint8_t kMethodDefOrRef[] = {n(T::method_def), n(T::member_ref)};
constexpr std::uint8_t kMemberForwarded[] = {n(T::field), n(T::method_def)};
constexpr std::uint8_t kImplementation[] = {n(T::file), n(T::assembly_ref), n(T::exported_type)};
constexpr std::uint8_t kCustomAttributeType[] = {kNoTable, kNoTable, n(T::method_def), n(T::member_ref), kNoTable};
constexpr std::uint8_t kResolutionScope[] = {n(T::module), n(T::module_ref), n(T::assembly_ref), n(T::type_ref)};
constexpr std::uint8_t kTypeOrMethodDef[] = {n(T::type_def), n(T::method_def)};

}  // namespace

std::span<const std::uint8_t> tables_of(CodedIndex kind) noexcept {
  switch (kind) {
    case CodedIndex::type_def_or_ref: return kTypeDefOrRef;
    case CodedIndex::has_constant: return kHasConstant;
    case CodedIndex::has_custom_attribute: return std::span(kHasCustomDebugInformation).first(kWithCustomAttributes);
    case CodedIndex::has_field_marshal: return kHasFieldMarshal;
    case CodedIndex::has_decl_security: return kHasDeclSecurity;
    case CodedIndex::member_ref_parent: return kMemberRefParent;
    case CodedIndex::has_semantics: return kHasSemantics;
    case CodedIndex::method_def_or_ref: return kMethodDefOrRef;
    case CodedIndex::member_forwarded: return kMemberForwarded;
    case CodedIndex::implementation: return kImplementation;
    case CodedIndex::custom_attribute_type: return kCustomAttributeType;
    case CodedIndex::resolution_scope: return kResolutionScope;
    case CodedIndex::type_or_method_def: return kTypeOrMethodDef;
    case CodedIndex::has_custom_debug_information: return kHasCustomDebugInformation;
  }
  return {};
}

unsigned tag_bits(CodedIndex kind) noexcept {
  return static_cast<unsigned>(std::bit_width(tables_of(kind).size() - 1));
}

std::span<const MetadataColumn> columns_of(MetadataTable table) noexcept {
  const auto number = static_cast<std::size_t>(table);
  if (number >= kMetadataTables) return {};
  const Columns& columns = kColumns[number];
  const auto end = std::ranges::find(columns, MetadataColumn::Kind::none, &MetadataColumn::kind);
  return {columns.begin(), end};
}

}  // namespace mixwalk
