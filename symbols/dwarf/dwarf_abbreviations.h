#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

namespace mixwalk {

// Detects tables of abbreviations that would make libdwarf work without end. libdwarf reads the table anew for each
// unit, and all attributes of an abbreviation for each entry, even for an entry of one byte. Measured: a file of 1 MB,
// with a million entries of one byte and an abbreviation of 30,000 attributes, took two minutes. Not frozen-safe.
// (DWARF 5, section 7.5.3.)
class DwarfAbbreviations {
 public:
  // The maximum number of attributes of one abbreviation. Compilers write some 30.
  static constexpr std::size_t kMaxAttributes = 250;
  // The limit in bytes for all tables; each table counts once for each unit that uses it. A browser's 40,000 units need
  // half of the limit.
  static constexpr std::uint64_t kMaxBytes = 512u * 1024 * 1024;

  // `section` is .debug_abbrev.
  explicit DwarfAbbreviations(std::span<const std::byte> section) noexcept : section_(section) {}

  // Returns whether the unit whose table is at this offset may be read; if not, the unit must be left out.
  bool allow(std::uint64_t offset);

 private:
  struct Table {
    std::uint64_t bytes = 0;
    bool sane = false;
  };
  Table scan(std::uint64_t offset) const noexcept;

  std::span<const std::byte> section_;
  std::unordered_map<std::uint64_t, Table> tables_;  // by offset
  std::uint64_t bytes_ = 0;
};

}  // namespace mixwalk
