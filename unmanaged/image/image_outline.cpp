#include "unmanaged/image/image_outline.h"

#include <cstring>

namespace mixwalk {
namespace {

// The only section holds the debug directory. It lies at the very start of the image, among the headers, where no code
// is.
constexpr std::uint32_t kPeAt = 0x40, kOptionalAt = kPeAt + 24, kOptionalBytes = 112 + 16 * 8;
constexpr std::uint32_t kSectionAt = kOptionalAt + kOptionalBytes, kDataAt = kSectionAt + 40;
constexpr std::uint32_t kDebugEntryBytes = 28, kRsdsHeader = 24;

class Bytes {
 public:
  explicit Bytes(std::size_t count) : bytes_(count) {}
  template <class T>
  void put(std::size_t at, T value) {
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  std::byte* at(std::size_t place) { return bytes_.data() + place; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace

std::vector<std::byte> image_outline(std::uint32_t size_of_image, std::uint32_t timestamp,
                                     const std::optional<CodeViewId>& pdb) {
  const std::size_t record = pdb ? kRsdsHeader + pdb->path.size() + 1 : 0;
  const std::uint32_t data = pdb ? kDebugEntryBytes + static_cast<std::uint32_t>(record) : 0;
  Bytes file(kDataAt + data);
  file.put<std::uint16_t>(0, 0x5A4D);
  file.put<std::uint32_t>(0x3C, kPeAt);
  file.put<std::uint32_t>(kPeAt, 0x4550);
  file.put<std::uint16_t>(kPeAt + 4, 0x8664);
  file.put<std::uint16_t>(kPeAt + 6, pdb ? 1 : 0);
  file.put<std::uint32_t>(kPeAt + 8, timestamp);
  file.put<std::uint16_t>(kPeAt + 20, kOptionalBytes);
  file.put<std::uint16_t>(kOptionalAt, 0x20B);
  file.put<std::uint32_t>(kOptionalAt + 56, size_of_image);
  file.put<std::uint32_t>(kOptionalAt + 60, kDataAt);
  file.put<std::uint32_t>(kOptionalAt + 108, 16);
  if (!pdb) return file.take();
  file.put<std::uint32_t>(kOptionalAt + 112 + 6 * 8, kDataAt);
  file.put<std::uint32_t>(kOptionalAt + 112 + 6 * 8 + 4, kDebugEntryBytes);
  file.put<std::uint32_t>(kSectionAt + 8, data);
  file.put<std::uint32_t>(kSectionAt + 12, kDataAt);
  file.put<std::uint32_t>(kSectionAt + 16, data);
  file.put<std::uint32_t>(kSectionAt + 20, kDataAt);
  file.put<std::uint32_t>(kSectionAt + 36, 0x4000'0040);  // initialised data, readable
  file.put<std::uint32_t>(kDataAt + 4, pdb->timestamp);
  file.put<std::uint32_t>(kDataAt + 12, DebugEntry::kCodeView);
  file.put<std::uint32_t>(kDataAt + 16, static_cast<std::uint32_t>(record));
  file.put<std::uint32_t>(kDataAt + 20, kDataAt + kDebugEntryBytes);
  file.put<std::uint32_t>(kDataAt + 24, kDataAt + kDebugEntryBytes);
  const std::size_t at = kDataAt + kDebugEntryBytes;
  file.put<std::uint32_t>(at, 0x53445352);  // RSDS
  std::memcpy(file.at(at + 4), pdb->guid.data(), pdb->guid.size());
  file.put<std::uint32_t>(at + 20, pdb->age);
  std::memcpy(file.at(at + kRsdsHeader), pdb->path.data(), pdb->path.size());
  return file.take();
}

}  // namespace mixwalk
