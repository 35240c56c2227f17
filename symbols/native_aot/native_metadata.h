#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mixwalk {

// The metadata that the compiler of .NET's NativeAOT embeds into a program: records of types and signatures, which
// refer to each other by kind and offset. (dotnet/runtime: src/coreclr/tools/Common/Internal/Metadata/NativeFormat; the
// records are those of .NET 8 to 10.) Nothing of it is trusted: each read is checked, and nesting and lengths are
// bounded. Pure; not frozen-safe.
class NativeMetadata {
 public:
  // A method, as the map of stack traces has it.
  struct Method {
    std::uint32_t type = 0;  // a handle: the kind is in its highest bits
    std::uint32_t name = 0, signature = 0, arguments = 0;  // offsets; arguments is 0 if the method is not generic
    bool operator==(const Method&) const = default;
  };

  // Reads a number of up to 32 bits, of which the lowest bits of the first byte say how many bytes it has. Moves `at`
  // behind the number. Returns nothing if the bytes are cut off.
  static std::optional<std::uint32_t> read_number(std::span<const std::byte> bytes, std::size_t& at) noexcept;

  NativeMetadata() = default;
  // `blob` must outlive this object. `kind_bits`: how many bits the kind of a record has in a reference to it. They are
  // 8 up to .NET 9, and 7 in .NET 10.
  NativeMetadata(std::span<const std::byte> blob, unsigned kind_bits) noexcept : blob_(blob), kind_bits_(kind_bits) {}
  // Whether the blob begins as metadata does.
  bool is_valid() const noexcept;

  // The offset of the record of each method and the handle of its type, sorted. Equal records are written once, so
  // several types may have the same method.
  struct DeclaredMethods {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> methods;
    bool cut = false;  // types are missing, because the metadata is damaged
  };
  DeclaredMethods methods_of_types() const;
  // Returns the method whose record has that offset, of the type with that handle; nothing if the record is damaged.
  std::optional<Method> method_at(std::uint32_t record, std::uint32_t type) const noexcept;

  // Whether the method is an instance method of that type, and the type is a value type. False if the metadata is
  // damaged.
  bool is_of_value(std::uint32_t record, std::uint32_t type) const;

  // Returns "Namespace.Type.Method<Arguments>(ParameterTypes)", in the form of clr_name.h; type parameters are !0, as
  // in IL. Empty if the metadata is damaged.
  std::string name_of(const Method& method) const;

 private:
  struct Handle {
    std::uint32_t kind = 0, offset = 0;
  };
  // Reads the fields of one record, one after the other.
  class Record;

  class TypeWalk;

  unsigned offset_bits() const noexcept { return 32 - kind_bits_; }
  Handle handle_of(std::uint32_t number) const noexcept {
    return {number >> offset_bits(), number & ((1u << offset_bits()) - 1)};
  }
  std::string text_at(std::uint32_t offset) const;
  std::string namespace_at(Handle handle, std::uint32_t kind, int depth) const;
  std::string type_at(Handle handle, const std::vector<std::string>& method_arguments, int depth) const;
  std::string types_in(Record& record, const std::vector<std::string>& method_arguments, std::string_view separator,
                       int depth) const;

  std::span<const std::byte> blob_;
  unsigned kind_bits_ = 7;
};

}  // namespace mixwalk
