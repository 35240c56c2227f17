#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "symbols/pdb/msf.h"

namespace mixwalk {

// Stream 1 of a PDB: the image for which it was made, and the streams that have names.
// (https://llvm.org/docs/PDB/PdbStream.html.) Not frozen-safe.
struct PdbInfo {
  std::array<std::byte, 16> guid{};
  std::uint32_t age = 0;  // how often the PDB was written; the age that the image has is in the DBI stream
  // The linker left the symbols of functions in the object files.
  bool fast_link = false;
  std::map<std::string, std::uint32_t, std::less<>> named_streams;

  // Returns the number of the stream with that name, or MsfFile::kNoStream if there is none.
  std::uint32_t stream(std::string_view name) const;
};

// Returns nothing if the stream is missing or cut off. Names that cannot be read are left out.
std::optional<PdbInfo> read_pdb_info(const MsfFile& msf);

// The texts of stream "/names", by their offset. Most are paths of source files.
class PdbStrings {
 public:
  PdbStrings() = default;
  PdbStrings(const MsfFile& msf, const PdbInfo& info);
  // Returns an empty text if there is none, or if it is longer than any path. Valid as long as this object and the
  // file.
  std::string_view at(std::uint32_t offset) const noexcept;

 private:
  MsfBytes stream_;
  std::span<const std::byte> texts_;
};

}  // namespace mixwalk
