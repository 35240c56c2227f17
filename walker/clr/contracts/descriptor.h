#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// What a .NET runtime says about its own data structures: the offsets of fields, the addresses of its global variables,
// and the versions of its data contracts. The runtime exports it as DotNetRuntimeContractDescriptor. Not frozen-safe.
//
// Source: docs/design/datacontracts of the runtime, public.
class ContractDescriptor {
 public:
  // The RVA of the descriptor. Returns nothing if the image at `runtime_base` exports none, as before .NET 9.
  static std::optional<std::uint32_t> find(const MemoryReader& memory, std::uint64_t runtime_base);
  // `rva`: the result of find(). Returns nothing if the descriptor cannot be read or contradicts itself. Nothing of the
  // target is trusted.
  //
  // `file`: the image's file, if the memory may lack a part of the image, as that of a small dump does; may be empty.
  // The descriptor begins in a writable section, because the loader relocates its two addresses. Nothing changes it
  // later.
  static std::optional<ContractDescriptor> read(const MemoryReader& memory, std::uint64_t runtime_base,
                                                std::uint32_t rva, std::vector<std::byte> file = {});
  // `text`: the descriptor's JSON; `pointers`: the table of the addresses of global variables.
  static std::optional<ContractDescriptor> parse(std::string_view text, const std::vector<std::uint64_t>& pointers);

  // The offset of a field in bytes. Returns nothing if the type or the field is not described.
  std::optional<std::uint32_t> offset(std::string_view type, std::string_view field) const;
  // The size of a type in bytes. Returns nothing if it is not described.
  std::optional<std::uint32_t> size(std::string_view type) const;
  // The value of a global constant, or the address of a global variable.
  std::optional<std::uint64_t> global(std::string_view name) const;
  // The version of a contract, such as "1" or "c1". Returns an empty text if the runtime does not have the contract.
  std::string contract(std::string_view name) const;
  const std::map<std::string, std::string, std::less<>>& contracts() const { return contracts_; }
  // The version of the descriptor's own format.
  std::uint64_t version() const { return version_; }

  // Adds the data that the runtime does not describe (contract_tables.h). Data that it describes are kept.
  void add_offset(std::string_view type, std::string_view field, std::uint32_t offset);
  void add_size(std::string_view type, std::uint32_t bytes);
  void add_global(std::string_view name, std::uint64_t value);
  void add_contract(std::string_view name, std::string_view version);

 private:
  struct Type {
    std::optional<std::uint32_t> bytes;
    std::map<std::string, std::uint32_t, std::less<>> fields;
  };

  std::uint64_t version_ = 0;
  std::map<std::string, Type, std::less<>> types_;
  std::map<std::string, std::uint64_t, std::less<>> globals_;
  std::map<std::string, std::string, std::less<>> contracts_;
};

}  // namespace mixwalk
