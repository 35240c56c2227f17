#include "symbols/server/store_fetch.h"

#include "symbols/symbol_path.h"
#include "unmanaged/image/data_directory.h"
#include "unmanaged/image/pe_image.h"

namespace mixwalk {

FileCheck image_check(std::uint32_t timestamp, std::uint32_t size_of_image) {
  return [=](std::span<const std::byte> bytes) -> std::string {
    const PeImage image = PeImage::parse(bytes);
    if (image.error() != PeError::none) return std::string(to_string(image.error()));
    if (image.timestamp() != timestamp || image.size_of_image() != size_of_image) {
      return "it is of another build, " + image_store_id(image.timestamp(), image.size_of_image());
    }
    for (const PeSection& section : image.sections()) {
      if (section.file_bytes != 0 && std::uint64_t{section.file_offset} + section.file_bytes > bytes.size()) {
        return "it is cut off";
      }
    }
    // The signatures follow the sections. In this directory alone, the address is an offset in the file. (Microsoft,
    // "PE Format": "The Attribute Certificate Table".)
    constexpr unsigned kCertificates = 4;
    const DirectoryRva signatures = rva_of_directory(bytes, kCertificates);
    if (signatures.bytes != 0 && std::uint64_t{signatures.rva} + signatures.bytes > bytes.size()) return "it is cut off";
    return {};
  };
}

std::optional<FetchedFile> fetch_image(StoreFetch* servers, std::string_view path, std::uint32_t timestamp,
                                       std::uint32_t size_of_image) {
  if (servers == nullptr) return std::nullopt;
  return servers->fetch({std::string(file_name(path)), image_store_id(timestamp, size_of_image)},
                        image_check(timestamp, size_of_image));
}

}  // namespace mixwalk
