#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/builders/byte_writer.h"

namespace mixwalk::test {

// Writes metadata from the format's description (ECMA-335 II.24.2). The caller writes the rows, as each table has them,
// with indexes of the width that heap_sizes and the numbers of rows give them.
class MetadataBuilder {
 public:
  std::uint8_t heap_sizes = 0;
  std::uint64_t sorted = 0x0000'1600'3325'FA00;  // as compilers write it: NestedClass, ImplMap, CustomAttribute, …
  std::string tables_name = "#~";

  // Each returns the index in its heap.
  std::uint32_t text(const std::string& value);
  std::uint32_t blob(const std::vector<std::byte>& bytes);
  std::uint32_t guid(std::uint8_t of);  // 16 times this byte
  // Adds a row to a table, and returns its number.
  std::uint32_t row(unsigned table, const ByteWriter& row);

  std::vector<std::byte> build() const;

 private:
  struct Rows {
    std::uint32_t count = 0;
    ByteWriter bytes;
  };
  ByteWriter texts_ = ByteWriter().u8(0), blobs_ = ByteWriter().u8(0), guids_;
  std::array<Rows, 64> tables_;
};

// The metadata of an assembly with these types and methods; all of it has narrow indexes:
//   <Module>                       TypeDef 1
//   Shop.Orders`1                  TypeDef 2, type parameter T (GenericParam 1), fields 1 (_items) and 2 (_count)
//     .ctor()                      MethodDef 1, HASTHIS void()
//     Add<U>(int, string)          MethodDef 2, method parameter U (GenericParam 2)
//   Shop.Orders`1+Line             TypeDef 3
//     Send(!0)                     MethodDef 3
//   Shop.Native                    TypeDef 4
//     Wait()                       MethodDef 4, imported as kernel32.dll!WaitForSingleObject
//   Shop.ICart                     TypeDef 5, imported from COM
//     Open()                       MethodDef 5
// TypeRef 1 is System.Diagnostics.DebuggableAttribute, and the assembly has it, with value 07. TypeRef 2 is
// System.Range, and TypeRef 3 System.Range+Part. The MVID is 16 times 9, the assembly's name is Shop.
MetadataBuilder sample_metadata();

}  // namespace mixwalk::test
