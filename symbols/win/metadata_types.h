#pragma once

#include <windows.h>

#include <cor.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "symbols/clr_name.h"
#include "symbols/win/com_pointer.h"
#include "symbols/win/profiling_api.h"

namespace mixwalk {

// The metadata of one module of the runtime (IMetaDataImport). Not frozen-safe.
class ModuleMetadata final : public TypeNames {
 public:
  // If the module has no metadata, this object and every answer are empty.
  ModuleMetadata(clr::ICorProfilerInfo3& info, clr::ModuleID module);
  // Takes the metadata of an object that has it besides other interfaces: a module of the runtime's debugging library.
  explicit ModuleMetadata(IUnknown& module);

  struct Method {
    std::string name;
    clr::Token type = 0;                   // TypeDef of the declaring type
    std::span<const std::byte> signature;  // valid as long as this object
  };
  // Returns false if there is no such method.
  bool method(clr::Token token, Method& method) const;

  std::string type_name(std::uint32_t token) const override;
  // The first method of a TypeDef that has this name; 0 if there is none.
  clr::Token method_named(clr::Token type, const wchar_t* name) const;
  // Returns the name in UTF-8; empty if there is no such field.
  std::string field_name(clr::Token token) const;

  // The methods with a row in the ImplMap table, and the methods of imported COM interfaces; no more than `most`.
  std::vector<clr::Token> imported_methods(std::size_t most) const;
  std::vector<clr::Token> com_methods(std::size_t most) const;
  // Whether com_methods() would list the method.
  bool is_com_method(clr::Token method) const;
  // Returns "library!entry", UTF-8, as a method with a row in ImplMap declares them; empty if the method has no such
  // row.
  std::string import_of(clr::Token method) const;

  // Reads which build the module is (ECMA-335 II.22.30). Returns false if that is not known.
  bool mvid(std::array<std::byte, 16>& mvid) const;
  // Returns the value of an attribute of the assembly (II.23.3), by its type's full name; valid as long as this object.
  // The result is empty if the assembly has no such attribute.
  std::span<const std::byte> assembly_attribute(const wchar_t* type) const;

 private:
  std::string type_def_name(clr::Token token, int depth) const;
  std::string type_ref_name(clr::Token token, int depth) const;

  ComPointer<IMetaDataImport> import_;
};

}  // namespace mixwalk
