#include "unmanaged/image/data_directory.h"

#include <algorithm>
#include <optional>

namespace mixwalk {
namespace {

constexpr std::uint16_t kMz = 0x5A4D;
constexpr std::uint32_t kPe = 0x00004550;
constexpr std::uint16_t kMagicPe32 = 0x10B, kMagicPe32Plus = 0x20B;
constexpr std::uint64_t kLfanew = 0x3C, kCoffBytes = 20, kSectionBytes = 40, kDirectoryBytes = 8;
constexpr std::uint64_t kDirectories32 = 96, kDirectories64 = 112;  // in the optional header
constexpr std::uint16_t kMaxSections = 512;

// The offsets of the headers in the file.
struct Headers {
  std::uint64_t optional = 0, directories = 0, sections = 0;
  std::uint16_t optional_bytes = 0, section_count = 0;
  std::uint32_t directory_count = 0;
};

std::optional<Headers> find_headers(FileReader& file) {
  if (file.at<std::uint16_t>(0) != kMz) return std::nullopt;
  const std::uint64_t pe = file.at<std::uint32_t>(kLfanew);
  if (file.at<std::uint32_t>(pe) != kPe) return std::nullopt;
  const std::uint64_t coff = pe + 4;
  Headers headers{.optional = coff + kCoffBytes};
  headers.section_count = std::min(file.at<std::uint16_t>(coff + 2), kMaxSections);
  headers.optional_bytes = file.at<std::uint16_t>(coff + 16);
  headers.sections = headers.optional + headers.optional_bytes;
  const std::uint16_t magic = file.at<std::uint16_t>(headers.optional);
  if (magic != kMagicPe32 && magic != kMagicPe32Plus) return std::nullopt;
  headers.directories = magic == kMagicPe32 ? kDirectories32 : kDirectories64;
  headers.directory_count = file.at<std::uint32_t>(headers.optional + headers.directories - 4);
  if (file.failed()) return std::nullopt;
  return headers;
}

FileRange place_of(FileReader& file, const Headers& headers, std::uint32_t rva, std::uint32_t bytes) {
  for (std::uint16_t i = 0; i < headers.section_count; ++i) {
    const std::uint64_t section = headers.sections + i * kSectionBytes;
    const std::uint32_t begin = file.at<std::uint32_t>(section + 12);
    const std::uint32_t in_file = file.at<std::uint32_t>(section + 16);
    const std::uint32_t offset = file.at<std::uint32_t>(section + 20);
    if (file.failed()) return {};
    if (rva < begin || rva - begin > in_file || bytes > in_file - (rva - begin)) continue;
    return {std::uint64_t{offset} + (rva - begin), bytes};
  }
  return {};
}

}  // namespace

std::optional<ImageStamp> image_stamp(std::span<const std::byte> file) {
  constexpr std::uint64_t kSizeOfImage = 56;  // in the optional header, 32-bit or 64-bit
  FileReader reader(file);
  const auto headers = find_headers(reader);
  if (!headers) return std::nullopt;
  const ImageStamp stamp{reader.at<std::uint32_t>(headers->optional - kCoffBytes + 4),
                         reader.at<std::uint32_t>(headers->optional + kSizeOfImage)};
  return reader.failed() ? std::nullopt : std::optional(stamp);
}

DirectoryRva rva_of_directory(std::span<const std::byte> file, unsigned directory) {
  FileReader reader(file);
  const auto headers = find_headers(reader);
  if (!headers || directory >= headers->directory_count) return {};
  const std::uint64_t entry = headers->directories + directory * kDirectoryBytes;
  if (entry + kDirectoryBytes > headers->optional_bytes) return {};
  const DirectoryRva place{reader.at<std::uint32_t>(headers->optional + entry),
                           reader.at<std::uint32_t>(headers->optional + entry + 4)};
  return reader.failed() ? DirectoryRva() : place;
}

FileRange place_of_rva(std::span<const std::byte> file, std::uint32_t rva, std::uint32_t bytes) {
  FileReader reader(file);
  const auto headers = find_headers(reader);
  return headers ? place_of(reader, *headers, rva, bytes) : FileRange();
}

FileRange place_of_directory(std::span<const std::byte> file, unsigned directory) {
  const auto [rva, bytes] = rva_of_directory(file, directory);
  return place_of_rva(file, rva, bytes);
}

std::span<const std::byte> data_directory(std::span<const std::byte> file, unsigned directory) {
  const FileRange place = place_of_directory(file, directory);
  return FileReader(file).range(place.offset, place.bytes);
}

std::span<const std::byte> bytes_at_rva(std::span<const std::byte> file, std::uint32_t rva,
                                        std::uint32_t bytes) {
  const FileRange place = place_of_rva(file, rva, bytes);
  return FileReader(file).range(place.offset, place.bytes);
}

}  // namespace mixwalk
