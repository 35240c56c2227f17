#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/pdata.h"

namespace mixwalk {

// The function tables that a target's program has registered with the system for code outside its images, as engines do
// that compile WebAssembly or scripts (RtlAddFunctionTable, RtlAddGrowableFunctionTable,
// RtlInstallFunctionTableCallback). Inside a process the system looks up the tables. From outside, they are read from
// the list that ntdll.dll keeps for debuggers. Nothing that is read is trusted: a table counts for an address only if
// the entry that covers it is sound. Not frozen-safe; the memory must outlive this object.
//
// Source: Microsoft Learn, "RtlGetFunctionTableListHead function", "DYNAMIC_FUNCTION_TABLE structure" and
// "FUNCTION_TABLE_TYPE enumeration". Wine exports no such function and has another list, so nothing is found there.
class FunctionTables {
 public:
  // `ntdll`: the base and the size of ntdll.dll in the target; 0 if it has none.
  FunctionTables(const MemoryReader& memory, std::uint64_t ntdll, std::uint32_t ntdll_bytes) noexcept
      : memory_(memory), ntdll_(ntdll), ntdll_bytes_(ntdll_bytes) {}

  struct Found {
    std::uint64_t base = 0;              // of the entry's RVAs
    std::optional<FunctionEntry> entry;  // covers the address; nothing if no table has a sound entry for it
    // If there is no entry: a function of the program makes the entries for this address. Nothing outside the process
    // can call that function.
    bool by_callback = false;
  };
  Found find(std::uint64_t address);

  // To be called when the target has run: the list is read anew.
  void forget() noexcept { tables_.reset(); }

 private:
  enum class Kind : std::uint32_t { sorted, unsorted, callback, growable };
  // The layout of DYNAMIC_FUNCTION_TABLE.
  struct Table {
    std::uint64_t next, previous;
    std::uint64_t entries;
    std::uint64_t reserved;
    std::uint64_t first, last;  // the addresses of the code that the table describes
    std::uint64_t base;
    std::uint64_t reserved2[2];
    std::uint64_t callback_dll;
    Kind kind;
    std::uint32_t count;

    bool contains(std::uint64_t address) const noexcept { return address >= first && address <= last; }
  };
  static_assert(sizeof(Table) == 0x58);

  // The head of the list; 0 if it is not known.
  std::uint64_t list_head() const noexcept;
  void read_list();
  std::optional<FunctionEntry> entry_of(const Table& table, std::uint32_t rva) const;
  std::optional<FunctionEntry> sorted_entry(const Table& table, std::uint32_t rva) const;
  std::optional<FunctionEntry> unsorted_entry(const Table& table, std::uint32_t rva) const;
  bool is_sound(const Table& table, const FunctionEntry& entry) const noexcept;

  const MemoryReader& memory_;
  std::uint64_t ntdll_;
  std::uint32_t ntdll_bytes_;
  std::optional<std::vector<Table>> tables_;  // nothing if the list was not read yet
};

}  // namespace mixwalk
