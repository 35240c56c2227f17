#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "symbols/metadata/metadata_root.h"
#include "symbols/metadata/metadata_schema.h"
#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// The tables and heaps of metadata (ECMA-335 II.24.2), in a portable PDB, an assembly's file, or the memory of a
// program. Only what is asked for is read, so pages may be missing: then the answers from these pages are missing, too.
// Nothing of the metadata is trusted. Not frozen-safe; const once opened.
class MetadataTables {
 public:
  // `memory` must outlive this object. Returns nothing if there are no tables, or their header cannot be read.
  static std::optional<MetadataTables> open(const MemoryReader& memory, const MetadataStreams& streams);

  // The number of rows. Rows beyond the end of the stream do not count.
  std::uint32_t rows(MetadataTable table) const noexcept { return layout(table).rows; }
  // Whether all rows that the header promises are inside the stream.
  bool is_whole(MetadataTable table) const noexcept { return !layout(table).cut; }

  // The value of a column, counted from 0 on, in a row, from 1 on. Of an index into a table, the value is the row; of a
  // coded index, it is the token. Returns nothing if there is no such row or column, or it cannot be read.
  std::optional<std::uint32_t> cell(MetadataTable table, std::uint32_t row, unsigned column) const noexcept;

  // The first row with this value in the column, in which the table should be sorted; 0 if there is none. The value is
  // one that cell() returns.
  std::uint32_t find_row(MetadataTable table, unsigned column, std::uint32_t value) const noexcept;
  // The last row whose value in the column is not above `value`, for columns of row numbers that never become smaller;
  // 0 if there is none.
  std::uint32_t last_row_up_to(MetadataTable table, unsigned column, std::uint32_t value) const noexcept;

  // A text of the heap #Strings, as it is there. It is cut off at kMaxText bytes.
  static constexpr std::size_t kMaxText = 4096;
  std::optional<std::string> text(std::uint32_t index) const;
  // A blob. Blobs of more than kMaxBlob bytes are not read: the sequence points of the largest known methods have some
  // hundred KB, and signatures have a few bytes.
  static constexpr std::uint32_t kMaxBlob = 4u << 20;
  std::optional<std::vector<std::byte>> blob(std::uint32_t index) const;
  // A GUID, from index 1 on.
  std::optional<std::array<std::byte, 16>> guid(std::uint32_t index) const noexcept;

 private:
  struct Column {
    std::uint8_t offset = 0, bytes = 0;
  };
  struct Layout {
    std::uint64_t begin = 0;  // address of the first row
    std::uint32_t rows = 0, row_bytes = 0;
    bool sorted = false, cut = false;
    std::array<Column, 9> columns{};
  };

  explicit MetadataTables(const MemoryReader& memory, const MetadataStreams& streams)
      : memory_(&memory), streams_(streams) {}
  bool lay_out();
  bool read_outer_rows();
  std::uint8_t column_bytes(const MetadataColumn& column) const noexcept;
  const Layout& layout(MetadataTable table) const noexcept {
    return layouts_[static_cast<std::size_t>(table) % kMetadataTables];
  }
  // The value of a column as it is stored, so that coded indexes compare in the order of the table.
  std::optional<std::uint32_t> stored(MetadataTable table, std::uint32_t row, unsigned column) const noexcept;

  const MemoryReader* memory_;
  MetadataStreams streams_;
  std::uint8_t heap_sizes_ = 0;
  std::array<std::uint32_t, kMetadataTables> counts_{};  // how wide indexes are follows from these
  std::array<Layout, kMetadataTables> layouts_{};
};

}  // namespace mixwalk
