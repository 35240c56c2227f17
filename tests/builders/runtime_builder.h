#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/builders/paged_memory.h"

namespace mixwalk::test {

// Writes the data structures of a runtime: modules, types, methods. Its descriptor gives other offsets than those of
// any real runtime, so that a test also shows that the reader takes them from there. Everything lies above kBegin.
class RuntimeBuilder {
 public:
  static constexpr std::uint64_t kBegin = 0x7000'0000;

  PagedMemory memory;

  // The descriptor's JSON; `execution_manager` is the version of that contract.
  std::string descriptor(const std::string& execution_manager = "2") const;

  // Each returns the address of what it has written.
  std::uint64_t room(std::uint64_t bytes);
  std::uint64_t bytes(std::span<const std::byte> content);
  std::uint64_t utf16(const std::string& text);
  // A module without an image, whose metadata is in a buffer of the runtime.
  std::uint64_t module(const std::vector<std::byte>& metadata, const std::string& path);
  // Hot reload has changed or added these methods of the module. 0 is a free entry of the runtime's table.
  void reload(std::uint64_t module, const std::vector<std::uint32_t>& tokens);
  // A type, by its row in TypeDef. `arguments`: the types that replace its generic parameters; `bases`: how many
  // dictionaries of base types come before its own.
  std::uint64_t type(std::uint64_t module, std::uint32_t row, const std::vector<std::uint64_t>& arguments = {},
                     unsigned bases = 0);
  // An array; one of several dimensions has a rank of its own.
  std::uint64_t array(std::uint64_t element, unsigned rank = 0);
  // A TypeDesc, by its ELEMENT_TYPE, as a TypeHandle: a pointer (0x0F), a reference (0x10), a function (0x1B).
  std::uint64_t derived(std::uint8_t kind, std::uint64_t element);
  std::uint64_t parameter(std::uint64_t module, std::uint32_t token);
  // A method, by its row in MethodDef; generic if it has arguments.
  std::uint64_t method(std::uint64_t type, std::uint32_t row, const std::vector<std::uint64_t>& arguments = {});
  std::uint64_t dynamic_method(std::uint64_t type, const std::string& name);
  // The fields that a type declares, by their rows in Field, and their offsets after the MethodTable; a static one has
  // the offset kStatic. `element`: the ELEMENT_TYPE, usually an Int32.
  struct Field {
    std::uint32_t row = 0, offset = 0;
    std::uint32_t element = 8;
  };
  static constexpr std::uint32_t kStatic = 0xFFFF'FFFF;
  void fields(std::uint64_t type, std::span<const Field> fields, std::uint64_t parent = 0, std::uint16_t inherited = 0);

  void make_value_type(std::uint64_t type) { put32(type + 8, 0x0004'0000); }
  // The module's map of TypeDefs (or TypeRefs) leads from the row to the type. All but the first two rows are in the
  // second part of the map.
  void map_type(std::uint64_t module, bool defined, std::uint32_t row, std::uint64_t type);

  void put16(std::uint64_t address, std::uint16_t value) { memory.put(address, value); }
  void put32(std::uint64_t address, std::uint32_t value) { memory.put(address, value); }
  void put64(std::uint64_t address, std::uint64_t value) { memory.put(address, value); }

 private:
  std::uint64_t list(const std::vector<std::uint64_t>& values);
  std::uint64_t method_desc(std::uint64_t type, std::uint32_t row, std::uint16_t kind);

  std::uint64_t next_ = kBegin;
};

}  // namespace mixwalk::test
