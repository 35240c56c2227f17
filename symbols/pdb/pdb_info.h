#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "symbols/pdb/msf.h"

namespace mixwalk {

// Stream 1 of a PDB: which image it was made for, and the streams that have names.
// (https://llvm.org/docs/PDB/PdbStream.html.) Not frozen-safe.
struct PdbInfo {
  std::array<std::byte, 16> guid{};
  std::uint32_t age = 0;  // how often it was written; the image's is in the DBI stream
  std::map<std::string, std::uint32_t, std::less<>> named_streams;

  // The number of the stream of that name; MsfFile::kNoStream: none.
  std::uint32_t stream(std::string_view name) const;
};

// Nothing where the stream is missing or cut off. Names that cannot be read are left out.
std::optional<PdbInfo> read_pdb_info(const MsfFile& msf);

// The texts of stream "/names", by their offset; paths of source files, for the most part.
class PdbStrings {
 public:
  PdbStrings() = default;
  PdbStrings(const MsfFile& msf, const PdbInfo& info);
  // Empty: no text is there, or one that is longer than any path. Valid as long as this and the file.
  std::string_view at(std::uint32_t offset) const noexcept;

 private:
  MsfBytes stream_;
  std::span<const std::byte> texts_;
};

}  // namespace mixwalk
