#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "unmanaged/step/memory_reader.h"
#include "walker/clr/contracts/descriptor.h"
#include "walker/target/page_cache.h"

namespace mixwalk {

// Reads the data structures of a target's runtime by the names that its descriptor gives to their types and fields. All
// readers of contracts share one. Every read may fail, because the memory may be missing or forged, or because the
// runtime does not describe the field. The result then is nothing, or empty. Not frozen-safe; one thread at a time.
class RuntimeReader {
 public:
  // The limit for bytes(), in bytes. The metadata of System.Private.CoreLib has some 4 MB.
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

  // `memory` must outlive this object.
  RuntimeReader(const MemoryReader& memory, ContractDescriptor descriptor)
      : memory_(memory), descriptor_(std::move(descriptor)) {}

  const ContractDescriptor& descriptor() const { return descriptor_; }
  const MemoryReader& memory() const { return memory_; }

  // The value at an address.
  template <class T = std::uint64_t>
  std::optional<T> value(std::uint64_t address) const {
    return memory_.read_value<T>(address);
  }

  // The address of a field of the object at `object`. Returns nothing if `object` is 0, or the field is not described.
  std::optional<std::uint64_t> address_of(std::uint64_t object, std::string_view type, std::string_view field) const {
    const auto offset = object != 0 ? descriptor_.offset(type, field) : std::nullopt;
    return offset ? std::optional(object + *offset) : std::nullopt;
  }

  // The value of a field: field(thread, "Thread", "LinkNext").
  template <class T = std::uint64_t>
  std::optional<T> field(std::uint64_t object, std::string_view type, std::string_view field) const {
    const auto address = address_of(object, type, field);
    return address ? value<T>(*address) : std::nullopt;
  }

  // The value of a global constant, or the address of a global variable.
  std::optional<std::uint64_t> global(std::string_view name) const { return descriptor_.global(name); }
  // The value of a global variable.
  template <class T = std::uint64_t>
  std::optional<T> variable(std::string_view name) const {
    const auto address = global(name);
    return address ? value<T>(*address) : std::nullopt;
  }

  // A text that ends with a zero, as UTF-8. It is cut off at `most` characters, or where the memory ends.
  std::string utf8(std::uint64_t address, std::size_t most = 4096) const;
  // The same for UTF-16. An unpaired surrogate becomes '?'.
  std::string utf16(std::uint64_t address, std::size_t most = 4096) const;
  // A text of `units` UTF-16 characters, at most `most`.
  std::string utf16_units(std::uint64_t address, std::size_t units, std::size_t most = 4096) const;

  // A piece of memory. Returns nothing if a part of it cannot be read, or if it is larger than kMaxBytes.
  std::optional<std::vector<std::byte>> bytes(std::uint64_t address, std::size_t bytes) const;

  // To be called when the target may have changed: everything is read anew.
  void drop() { memory_.drop(); }

 private:
  PageCache memory_;
  ContractDescriptor descriptor_;
};

}  // namespace mixwalk
