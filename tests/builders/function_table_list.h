#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tests/builders/byte_writer.h"
#include "tests/builders/dump_samples.h"
#include "tests/builders/image_builder.h"

namespace mixwalk::test {

// An ntdll.dll with the list of function tables that Windows keeps for debuggers, and the nodes of that list, written
// byte by byte from Microsoft's description of DYNAMIC_FUNCTION_TABLE.
class FunctionTableList {
 public:
  static constexpr std::uint32_t kSorted = 0, kUnsorted = 1, kCallback = 2, kGrowable = 3;
  static constexpr std::uint64_t kNodes = 0x60'0000;  // the nodes lie here, 0x100 bytes apart
  static constexpr std::uint64_t kHead = kNtdllBase + ImageBuilder::kData + 0x200;

  struct Table {
    std::uint64_t entries, first, last, base;
    std::uint32_t kind, count;
  };
  FunctionTableList& add(const Table& table) {
    tables_.push_back(table);
    return *this;
  }

  // ntdll.dll as it is loaded. RtlGetFunctionTableListHead is at 0x1040: lea rax, [rip + head]; ret.
  std::vector<std::byte> ntdll() const {
    ImageBuilder image;
    image.function(0x1000, 0x1040).function(0x1080, 0x10C0);
    image.export_name("RtlGetFunctionTableListHead", 0x1040).export_name("RtlUserThreadStart", 0x1000);
    image.put_code(0x101E, {0xFF, 0xD0});
    const auto distance = static_cast<std::uint32_t>(kHead - kNtdllBase) - 0x1047;
    image.put_code(0x1040,
                   {0x48, 0x8D, 0x05, static_cast<std::uint8_t>(distance), static_cast<std::uint8_t>(distance >> 8),
                    static_cast<std::uint8_t>(distance >> 16), 0, 0xC3});
    std::vector<std::byte> memory = loaded(image.build());
    const std::uint64_t ends[] = {node(0), node(tables_.size() - 1)};
    put64(memory, kHead - kNtdllBase, tables_.empty() ? kHead : ends[0]);
    put64(memory, kHead - kNtdllBase + 8, tables_.empty() ? kHead : ends[1]);
    return memory;
  }
  std::vector<std::byte> nodes() const {
    std::vector<std::byte> memory(0x100 * tables_.size());
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      const std::size_t at = 0x100 * i;
      put64(memory, at, i + 1 == tables_.size() ? kHead : node(i + 1));
      put64(memory, at + 0x08, i == 0 ? kHead : node(i - 1));
      put64(memory, at + 0x10, tables_[i].entries);
      put64(memory, at + 0x20, tables_[i].first);
      put64(memory, at + 0x28, tables_[i].last);
      put64(memory, at + 0x30, tables_[i].base);
      ImageBuilder::put32(memory, at + 0x50, tables_[i].kind);
      ImageBuilder::put32(memory, at + 0x54, tables_[i].count);
    }
    return memory;
  }
  static std::uint64_t node(std::size_t i) { return kNodes + 0x100 * i; }

  static void put64(std::vector<std::byte>& memory, std::size_t at, std::uint64_t value) {
    ImageBuilder::put32(memory, at, static_cast<std::uint32_t>(value));
    ImageBuilder::put32(memory, at + 4, static_cast<std::uint32_t>(value >> 32));
  }
  // RUNTIME_FUNCTIONs: begin, end and unwind data of each.
  static std::vector<std::byte> entries(const std::vector<std::uint32_t>& fields) {
    ByteWriter bytes;
    for (const std::uint32_t field : fields) bytes.u32(field);
    return bytes.bytes();
  }

 private:
  std::vector<Table> tables_;
};

}  // namespace mixwalk::test
