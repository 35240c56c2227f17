#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mixwalk::test {

// Writes PE32+ image files byte by byte, from the format's description and not from the parser's structures. The
// sections have fixed RVAs; the code is 0x100 bytes of 0x90 (nop) until put() replaces some.
class ImageBuilder {
 public:
  static constexpr std::uint32_t kCode = 0x1000;      // .text, executable
  static constexpr std::uint32_t kMoreCode = 0x2000;  // .more, executable
  static constexpr std::uint32_t kData = 0x3000;      // .data
  static constexpr std::uint32_t kExports = 0x4000;   // .edata
  static constexpr std::uint32_t kPdata = 0x5000;
  static constexpr std::uint32_t kXdata = 0x6000;
  static constexpr std::uint32_t kClr = 0x7000;
  static constexpr std::uint32_t kSizeOfImage = 0x8000;
  static constexpr std::uint32_t kDebug = 0x8000;  // .debug; an image with this section is a page longer
  static constexpr std::uint32_t kTimestamp = 0x5EED1234;

  ImageBuilder() : code_(0x100, 0x90) {}

  // Puts bytes into .text or .more, which grow as needed.
  ImageBuilder& put_code(std::uint32_t rva, const std::vector<std::uint8_t>& bytes);

  ImageBuilder& function(std::uint32_t begin, std::uint32_t end);
  // Adds a function whose UNWIND_INFO has `codes` unwind codes and chains to [parent_begin, parent_end). The unwind
  // info of that parent is `parent_unwind` (0 for a plain one).
  ImageBuilder& chained(std::uint32_t begin, std::uint32_t end, std::uint32_t parent_begin,
                        std::uint32_t parent_end, std::uint8_t codes = 0,
                        std::uint32_t parent_unwind = 0);
  // Adds an entry whose unwind field is written unchanged.
  ImageBuilder& raw_function(std::uint32_t begin, std::uint32_t end, std::uint32_t unwind);
  // The RVA that the next UNWIND_INFO will have.
  std::uint32_t next_unwind() const { return kXdata + static_cast<std::uint32_t>(xdata_.size()); }
  // The RVA of the n-th .pdata entry.
  static std::uint32_t entry_rva(std::uint32_t n) { return kPdata + n * 12; }

  // Ordinals count from 5, in the order of these calls.
  ImageBuilder& export_name(const std::string& name, std::uint32_t rva);
  ImageBuilder& export_alias(const std::string& name);  // another name of the last slot
  ImageBuilder& export_ordinal(std::uint32_t rva);
  ImageBuilder& forward(const std::string& name, const std::string& to);
  static constexpr std::uint32_t kOrdinalBase = 5;

  // Adds an imported function: the n-th one has its slot at import_slot(n). The slots are in .data. The slot of a
  // delayed import points to `loader`, an RVA, until the function is loaded.
  ImageBuilder& import(const std::string& image, const std::string& name);
  ImageBuilder& import_ordinal(const std::string& image, std::uint16_t ordinal);
  ImageBuilder& import_delayed(const std::string& image, const std::string& name, std::uint32_t loader);
  static std::uint32_t import_slot(std::uint32_t n) { return kData + 0x10 + n * 0x10; }
  static constexpr std::uint32_t kMaxImports = 16;

  ImageBuilder& clr(bool ready_to_run);

  // Adds an entry of the debug directory.
  ImageBuilder& debug_entry(std::uint32_t type, std::uint16_t minor, const std::vector<std::uint8_t>& data,
                            std::uint32_t timestamp = kTimestamp);
  // Adds an entry that names a PDB. Each of the 16 bytes of its GUID is `guid`.
  ImageBuilder& code_view(std::uint8_t guid, std::uint32_t age, const std::string& path,
                          bool portable = false);
  static constexpr std::uint32_t kCodeView = 2;

  std::vector<std::byte> build() const;

  // Offsets of header fields in the built file, for tests that damage them.
  static constexpr std::size_t kPeAt = 0x80, kMachineAt = 0x84, kSectionCountAt = 0x86,
                               kMagicAt = 0x98, kDirectoriesAt = 0x98 + 112,
                               kSectionTableAt = kDirectoriesAt + 16 * 8;
  static void put32(std::vector<std::byte>& file, std::size_t at, std::uint32_t value);
  static void put16(std::vector<std::byte>& file, std::size_t at, std::uint16_t value);
  // Returns the file offset of the byte at this RVA.
  static std::size_t offset_of(const std::vector<std::byte>& file, std::uint32_t rva);

 private:
  using Bytes = std::vector<std::uint8_t>;
  struct Slot {
    std::uint32_t rva;
    std::string forwarder;
    std::vector<std::string> names;
  };
  struct DebugEntry {
    std::uint32_t type;
    std::uint16_t minor;
    Bytes data;
    std::uint32_t timestamp;
  };
  struct ImportedFunction {
    std::string image, name;
    std::uint16_t ordinal;
    bool delayed;
    std::uint32_t loader;
  };
  Bytes export_section() const;
  Bytes data_section(std::uint32_t (&directories)[16][2]) const;
  Bytes debug_section(std::size_t file_offset) const;

  Bytes code_, more_code_, pdata_, xdata_, clr_;
  std::vector<Slot> slots_;
  std::vector<ImportedFunction> imports_;
  std::vector<DebugEntry> debug_;
};

}  // namespace mixwalk::test
