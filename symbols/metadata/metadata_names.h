#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "symbols/clr_name.h"
#include "symbols/metadata/metadata_tables.h"

namespace mixwalk {

// The names in the metadata of one module, as the runtime's own reader (IMetaDataImport) gives them, and as
// ModuleMetadata of symbols/win does. An answer is empty if the metadata does not have it, or if it cannot be read. The
// texts come from the metadata unchanged, so those of a program's memory may be no valid UTF-8. Not frozen-safe; const.
class MetadataNames final : public TypeNames {
 public:
  explicit MetadataNames(MetadataTables tables) : tables_(std::move(tables)) {}

  const MetadataTables& tables() const noexcept { return tables_; }

  struct Method {
    std::string name;
    std::uint32_t type = 0;  // TypeDef of the declaring type; 0 if it is unknown
    std::vector<std::byte> signature;
  };
  std::optional<Method> method(std::uint32_t token) const;

  // The first method of a TypeDef that has this name; 0 if there is none.
  std::uint32_t method_named(std::uint32_t type, std::string_view name) const;

  // Of a TypeDef or a TypeRef.
  std::string type_name(std::uint32_t token) const override;
  std::string field_name(std::uint32_t token) const;
  // II.23.2.4.
  std::vector<std::byte> field_signature(std::uint32_t token) const;
  std::string generic_parameter_name(std::uint32_t token) const;

  // Returns "library!entry" as a P/Invoke declares them.
  std::string import_of(std::uint32_t method) const;
  // Whether a type is an imported COM interface.
  bool is_com_type(std::uint32_t type) const;

  // Which build the module is (ECMA-335 II.22.30).
  std::optional<std::array<std::byte, 16>> mvid() const noexcept;
  // "System.Private.CoreLib".
  std::string assembly_name() const;
  // The value of an attribute of the assembly (II.23.3), by its type's full name.
  std::vector<std::byte> assembly_attribute(std::string_view type) const;

 private:
  std::string text(MetadataTable table, std::uint32_t row, unsigned column) const;
  std::string name_in_namespace(MetadataTable table, std::uint32_t row, unsigned name) const;
  std::string type_def_name(std::uint32_t row, int depth) const;
  std::string type_ref_name(std::uint32_t row, int depth) const;
  std::uint32_t type_of_method(std::uint32_t row) const;

  MetadataTables tables_;
};

}  // namespace mixwalk
