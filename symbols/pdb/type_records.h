#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "symbols/pdb/msf.h"

namespace mixwalk {

// The records of the TPI stream (types) or the IPI stream (functions that were inlined), by their index.
// (https://llvm.org/docs/PDB/TpiStream.html.) Not frozen-safe; one thread at a time. `msf` must outlive this object.
// The records' lengths are read when a record is first needed.
class TypeRecords {
 public:
  static constexpr std::uint32_t kTypes = 2, kIds = 4;  // the streams

  TypeRecords(const MsfFile& msf, std::uint32_t stream) noexcept : msf_(msf), stream_(stream) {}

  struct Record {
    std::uint16_t kind = 0;  // 0 if there is no record
    std::span<const std::byte> data;
  };
  // The result is valid as long as this object.
  Record at(std::uint32_t index);

 private:
  // Only every kStride-th offset is kept, because all offsets would need as much memory as the image itself.
  static constexpr std::uint32_t kStride = 32;

  void load();

  const MsfFile& msf_;
  std::uint32_t stream_;
  bool loaded_ = false;
  MsfBytes bytes_;
  std::span<const std::byte> records_;
  std::uint32_t first_ = 0, count_ = 0;
  std::vector<std::uint32_t> offsets_;  // of records 0, kStride, …
};

}  // namespace mixwalk
