#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "walker/clr/contracts/runtime_reader.h"

namespace mixwalk {

// What the runtime's MethodDesc and MethodTable say about methods and types. Nothing of the target is trusted. Not
// frozen-safe.
//
// Source: docs/design/datacontracts/RuntimeTypeSystem.md of the runtime, public.

struct RuntimeMethod {
  std::uint64_t type = 0;    // the MethodTable of its type
  std::uint64_t module = 0;  // of the type: its metadata has the method
  std::uint32_t token = 0;   // a MethodDef
  // A stub, or a method that the program made: it has no metadata, but a name of its own.
  bool dynamic = false;
  std::uint64_t dynamic_name = 0;  // the address of that name, UTF-8
};
// Returns nothing if this is no MethodDesc.
std::optional<RuntimeMethod> runtime_method_at(const RuntimeReader& reader, std::uint64_t method);

// The types that replace the generic parameters of a type, or of a method. The result is empty if there are none, as
// for a definition.
std::vector<std::uint64_t> arguments_of_type(const RuntimeReader& reader, std::uint64_t method_table);
std::vector<std::uint64_t> arguments_of_method(const RuntimeReader& reader, std::uint64_t method);

// A TypeHandle of the runtime: a MethodTable, or something that has none.
struct RuntimeType {
  enum class Kind : std::uint8_t { declared, array, pointer, reference, parameter, function };
  Kind kind = Kind::declared;
  std::uint64_t module = 0;  // whose metadata has the type, or the generic parameter
  std::uint32_t token = 0;   // a TypeDef; of a generic parameter, a GenericParam
  std::uint64_t element = 0; // of an array, a pointer or a reference: the type of what it has, or points to
  std::uint32_t rank = 0;    // of an array
};
// Returns nothing if there is no type at the address.
std::optional<RuntimeType> runtime_type_at(const RuntimeReader& reader, std::uint64_t type);

}  // namespace mixwalk
