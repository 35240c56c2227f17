#include "symbols/image_files.h"

#include <filesystem>
#include <fstream>

namespace mixwalk {

std::optional<std::vector<std::byte>> DiskImageFiles::read(const std::string& path) {
  const std::filesystem::path file(std::u8string(path.begin(), path.end()));
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(file, error);
  if (error || bytes > kMaxImageBytes) return std::nullopt;
  std::ifstream in(file, std::ios::binary);
  std::vector<std::byte> contents(static_cast<std::size_t>(bytes));
  if (!in.read(reinterpret_cast<char*>(contents.data()), static_cast<std::streamsize>(bytes))) {
    return std::nullopt;
  }
  return contents;
}

}  // namespace mixwalk
