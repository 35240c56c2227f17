#include "unmanaged/image/file_of_image.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "unmanaged/image/image_headers.h"

namespace mixwalk {
namespace {

constexpr std::uint32_t kMaxHeaderBytes = 1 << 16;  // real images need one page
constexpr std::uint32_t kMaxSections = 96;          // the loader's own limit
constexpr std::size_t kChunk = std::size_t{1} << 16;
constexpr std::size_t kMostReserved = std::size_t{64} << 20;  // the header's size may be forged

// Offsets in the PE header, in a section's header and in an entry of the debug directory.
constexpr std::uint32_t kSymbolTable = 12;
constexpr std::uint32_t kSectionBytes = 40, kRawSize = 16, kRawData = 20;
constexpr std::uint32_t kDebugEntryBytes = 28, kAddressOfData = 20, kPointerToData = 24;
constexpr std::uint32_t kMaxDebugEntries = 64;

class ImageWriter {
 public:
  ImageWriter(const MemoryReader& memory, const ImageHeaders& headers) : memory_(memory), headers_(headers) {}

  std::vector<std::byte> write() {
    // A vector that grows is copied, and the room of the copies is not given back. Reserved room that is not used costs
    // no memory.
    file_.reserve(std::min<std::size_t>(headers_.size_of_image(), kMostReserved));
    const std::uint32_t header_bytes = headers_.size_of_headers();
    const std::uint32_t count = std::min(headers_.section_count(), kMaxSections);
    if (header_bytes > kMaxHeaderBytes || headers_.pe_offset() >= header_bytes ||
        headers_.section_table() > header_bytes || headers_.section_table() < headers_.pe_offset() + kSectionBytes ||
        count * kSectionBytes > header_bytes - headers_.section_table() ||
        append(headers_.base(), header_bytes) != header_bytes) {
      return {};
    }
    const std::uint64_t no_symbols = 0;
    std::memcpy(file_.data() + headers_.pe_offset() + kSymbolTable, &no_symbols, sizeof no_symbols);
    room_ = headers_.size_of_image();
    for (std::uint32_t i = 0; i < count; ++i) add_section(i);
    mend_debug_directory();
    return std::move(file_);
  }

 private:
  // Sections of a real image are disjoint, so together they are no longer than the image.
  void add_section(std::uint32_t number) {
    const auto section = headers_.section(number);
    if (!section) return;
    std::uint32_t bytes = section->virtual_bytes != 0 ? section->virtual_bytes : section->file_bytes;
    const bool wanted = !section->writable() && (section->executable() || section->readable());
    if (!wanted || section->rva >= headers_.size_of_image()) bytes = 0;
    bytes = std::min(bytes, headers_.size_of_image() - std::min(section->rva, headers_.size_of_image()));
    bytes = std::min(bytes, room_);
    const auto offset = static_cast<std::uint32_t>(file_.size());
    bytes = append(headers_.base() + section->rva, bytes);
    room_ -= bytes;
    const std::uint32_t at = headers_.section_table() + number * kSectionBytes;
    put(at + kRawSize, bytes);
    put(at + kRawData, bytes == 0 ? 0 : offset);
  }

  // Appends as many of the bytes as can be read, and returns their number.
  std::uint32_t append(std::uint64_t address, std::uint32_t bytes) {
    std::uint32_t done = 0;
    while (done < bytes) {
      const std::size_t step = std::min<std::size_t>(kChunk, bytes - done);
      const std::size_t at = file_.size();
      file_.resize(at + step);
      const std::size_t there = memory_.read_up_to(address + done, file_.data() + at, step);
      done += static_cast<std::uint32_t>(there);
      if (there == step) continue;
      file_.resize(at + there);
      break;
    }
    return done;
  }

  // The entries of the debug directory give the offsets of their data in the file, so these are corrected.
  void mend_debug_directory() {
    const ImageHeaders::Directory debug = headers_.directory(ImageHeaders::kDebugTable);
    const std::uint32_t count = std::min(debug.bytes / kDebugEntryBytes, kMaxDebugEntries);
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto entry = offset_of(debug.rva + i * kDebugEntryBytes, kDebugEntryBytes);
      if (!entry) return;
      std::uint32_t rva;
      std::memcpy(&rva, file_.data() + *entry + kAddressOfData, sizeof rva);
      put(*entry + kPointerToData, offset_of(rva, 1).value_or(0));
    }
  }

  std::optional<std::uint32_t> offset_of(std::uint32_t rva, std::uint32_t bytes) const {
    const std::uint32_t count = std::min(headers_.section_count(), kMaxSections);
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto section = headers_.section(i);
      if (!section || rva < section->rva) continue;
      const std::uint32_t at = headers_.section_table() + i * kSectionBytes;
      const std::uint32_t there = get(at + kRawSize), from = rva - section->rva;
      if (from < there && bytes <= there - from) return get(at + kRawData) + from;
    }
    return std::nullopt;
  }

  std::uint32_t get(std::uint32_t at) const {
    std::uint32_t value;
    std::memcpy(&value, file_.data() + at, sizeof value);
    return value;
  }
  void put(std::uint32_t at, std::uint32_t value) { std::memcpy(file_.data() + at, &value, sizeof value); }

  const MemoryReader& memory_;
  const ImageHeaders& headers_;
  std::vector<std::byte> file_;
  std::uint32_t room_ = 0;
};

}  // namespace

std::vector<std::byte> file_of_image(const MemoryReader& memory, std::uint64_t base) {
  const auto headers = ImageHeaders::read(memory, base);
  return headers ? ImageWriter(memory, *headers).write() : std::vector<std::byte>();
}

}  // namespace mixwalk
