#pragma once

#include <cstddef>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "symbols/pdb/pdb_symbols.h"

namespace mixwalk::test {

class PdbInMemory final : public PdbBytes {
 public:
  explicit PdbInMemory(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  std::span<const std::byte> get() const noexcept override { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// Returns the bytes of a file; the result is empty if there is no such file.
inline std::vector<std::byte> file_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  std::vector<std::byte> bytes(in ? static_cast<std::size_t>(in.tellg()) : 0);
  in.seekg(0);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

inline std::shared_ptr<const ImageFile> read_image(const std::string& path) {
  return std::make_shared<const ImageFile>(path, file_bytes(path));
}

inline std::shared_ptr<const PdbBytes> read_pdb(const std::string& path) {
  return std::make_shared<const PdbInMemory>(file_bytes(path));
}

}  // namespace mixwalk::test
