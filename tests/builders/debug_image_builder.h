#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mixwalk::test {

// Writes bytes, little-endian, for tables that a test writes by hand.
class TableWriter {
 public:
  TableWriter& u8(unsigned value) { return number(value, 1); }
  TableWriter& u16(unsigned value) { return number(value, 2); }
  TableWriter& u32(std::uint64_t value) { return number(value, 4); }
  TableWriter& u64(std::uint64_t value) { return number(value, 8); }
  TableWriter& uleb(std::uint64_t value);
  TableWriter& sleb(std::int64_t value);
  TableWriter& text(std::string_view value);  // with a zero behind it
  TableWriter& bytes(const std::vector<std::uint8_t>& value);
  void set32(std::size_t at, std::uint64_t value);
  std::uint32_t size() const { return static_cast<std::uint32_t>(data_.size()); }
  const std::vector<std::uint8_t>& data() const { return data_; }

 private:
  TableWriter& number(std::uint64_t value, int bytes);
  std::vector<std::uint8_t> data_;
};

// Writes PE32+ files with sections of any name and a COFF symbol table, from the format's description and not from the
// parser's structures. The first section is .text, at kCode, with kCodeBytes.
class DebugImageBuilder {
 public:
  static constexpr std::uint64_t kImageBase = 0x140000000;
  static constexpr std::uint32_t kCode = 0x1000, kCodeBytes = 0x1000;
  static constexpr std::uint32_t kTimestamp = 0x5EED1234;

  DebugImageBuilder();
  // Replaces bytes of .text; all other bytes are nops (0x90).
  DebugImageBuilder& put_code(std::uint32_t rva, const std::vector<std::uint8_t>& bytes);
  // Adds a section, and returns its number. Numbers count from 1, which is .text.
  int section(const std::string& name, const std::vector<std::uint8_t>& data);
  // `section` is the section's number; 0 and below have the meaning that the format gives them. `type` 0x20 is a
  // function. `kind` is the storage class; 2 is external, 3 static.
  DebugImageBuilder& symbol(const std::string& name, int section, std::uint32_t value, unsigned type = 0x20,
                            unsigned kind = 2, unsigned auxiliary = 0);
  // With `debug_only`, the file is as objcopy --only-keep-debug leaves it, without the code.
  std::vector<std::byte> build(bool debug_only = false) const;

 private:
  struct Section {
    std::string name;
    std::vector<std::uint8_t> data;
  };
  std::vector<Section> sections_;
  TableWriter symbols_, strings_;
  std::uint32_t symbol_count_ = 0;
};

}  // namespace mixwalk::test
