// Reads arbitrary bytes as the list of function tables of a target, with the tables' entries: each look-up must end,
// and an entry that is found must cover the address.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/builders/function_table_list.h"
#include "walker/target/function_tables.h"

using mixwalk::test::FunctionTableList;

namespace {

// ntdll.dll, and the input at the place of the list's nodes.
class Memory final : public mixwalk::MemoryReader {
 public:
  Memory(const std::vector<std::byte>& ntdll, const std::uint8_t* data, std::size_t size)
      : ntdll_(ntdll), data_(data), size_(size) {}
  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    return read_part(address - mixwalk::test::kNtdllBase, ntdll_.data(), ntdll_.size(), into, bytes) ||
           read_part(address - FunctionTableList::kNodes, data_, size_, into, bytes);
  }

 private:
  static bool read_part(std::uint64_t at, const void* from, std::size_t size, void* into, std::size_t bytes) {
    if (at > size || bytes > size - at) return false;
    std::memcpy(into, static_cast<const std::byte*>(from) + at, bytes);
    return true;
  }
  const std::vector<std::byte>& ntdll_;
  const std::uint8_t* data_;
  std::size_t size_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<std::byte> ntdll =
      FunctionTableList().add({}).ntdll();  // the head leads to one node, at the begin of the input
  const Memory memory(ntdll, data, size);
  mixwalk::FunctionTables tables(memory, mixwalk::test::kNtdllBase, static_cast<std::uint32_t>(ntdll.size()));
  // The addresses that the input itself names.
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= size && at < 0x400; at += sizeof(std::uint64_t)) {
    std::uint64_t address = 0;
    std::memcpy(&address, data + at, sizeof address);
    const auto found = tables.find(address);
    if (found.entry && !found.entry->contains(static_cast<std::uint32_t>(address - found.base))) std::abort();
  }
  return 0;
}
