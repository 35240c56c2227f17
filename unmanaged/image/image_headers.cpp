#include "unmanaged/image/image_headers.h"

#include <cstring>

namespace mixwalk {
namespace {

constexpr std::uint16_t kMz = 0x5A4D, kPe32Plus = 0x20B;
constexpr std::uint32_t kPe = 0x4550;
constexpr std::uint32_t kLfanew = 0x3C;
constexpr std::uint32_t kSectionBytes = 40;

}  // namespace

bool ImageHeaders::read_bytes(std::uint32_t offset, void* into, std::size_t bytes) const noexcept {
  if (offset > page_bytes_ || bytes > page_bytes_ - offset) return memory_->read(base_ + offset, into, bytes);
  std::memcpy(into, page_.data() + offset, bytes);
  return true;
}

std::uint32_t ImageHeaders::field(std::size_t at) const noexcept {
  std::uint32_t value;
  std::memcpy(&value, nt_.data() + at, sizeof value);
  return value;
}

std::optional<ImageHeaders> ImageHeaders::read(const MemoryReader& memory, std::uint64_t base) noexcept {
  ImageHeaders headers(memory, base);
  headers.page_bytes_ = memory.read_up_to(base, headers.page_.data(), headers.page_.size());
  std::uint16_t mz = 0;
  if (!headers.read_bytes(0, &mz, sizeof mz) || mz != kMz) return std::nullopt;
  if (!headers.read_bytes(kLfanew, &headers.pe_offset_, sizeof headers.pe_offset_) ||
      !headers.read_bytes(headers.pe_offset_, headers.nt_.data(), kNtBytes)) {
    return std::nullopt;
  }
  if (headers.field(0) != kPe || (headers.field(kMagicAt) & 0xFFFF) != kPe32Plus) return std::nullopt;
  headers.sections_ = headers.pe_offset_ + static_cast<std::uint32_t>(kMagicAt) +
                      (headers.field(kOptionalBytesAt) & 0xFFFF);
  return headers;
}

ImageHeaders::Directory ImageHeaders::directory(unsigned which) const noexcept {
  if (which >= 16) return {};
  const std::size_t at = kDirectoriesAt + 8 * which;
  return {field(at), field(at + 4)};
}

std::optional<ImageHeaders::Section> ImageHeaders::section(std::uint32_t number) const noexcept {
  if (number >= section_count()) return std::nullopt;
  std::uint32_t words[kSectionBytes / 4];
  if (!read_bytes(sections_ + number * kSectionBytes, words, sizeof words)) return std::nullopt;
  return Section{.rva = words[3], .virtual_bytes = words[2], .file_bytes = words[4], .flags = words[9]};
}

// FNV-1a, eight bytes at a time.
std::uint64_t ImageHeaders::identity() const noexcept {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
  for (std::size_t at = 0; at < kNtBytes; at += sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, nt_.data() + at, sizeof word);
    hash = (hash ^ word) * 0x100'0000'01B3;
  }
  return hash;
}

}  // namespace mixwalk
