#include "symbols/portable_pdb/sequence_points.h"

#include "symbols/portable_pdb/metadata_streams.h"

namespace mixwalk {
namespace {

// The limit for one method. The largest known methods, which tools generated, have some ten thousand; each look-up
// reads them from the first one on.
constexpr std::uint32_t kMaxPoints = 1 << 17;

}  // namespace

std::optional<SequencePoint> find_sequence_point(std::span<const std::byte> blob, std::uint32_t document,
                                                 std::uint32_t il_offset) {
  ByteCursor cursor(blob);
  read_compressed(cursor);  // the signature of the local variables
  if (document == 0) document = read_compressed(cursor);
  std::optional<SequencePoint> best;
  std::uint64_t offset = 0;
  std::int64_t line = 0;
  bool first = true, first_visible = true;
  for (std::uint32_t records = 0; cursor.left() != 0; ++records) {
    if (records == kMaxPoints) return std::nullopt;
    const std::uint32_t step = read_compressed(cursor);
    if (step == 0 && !first) {
      document = read_compressed(cursor);
      if (cursor.failed()) break;
      continue;
    }
    offset += step;
    first = false;
    const std::uint32_t lines = read_compressed(cursor);
    const std::int64_t columns =
        lines == 0 ? std::int64_t{read_compressed(cursor)} : read_compressed_signed(cursor);
    const bool visible = lines != 0 || columns != 0;
    if (visible) {
      line = first_visible ? std::int64_t{read_compressed(cursor)} : line + read_compressed_signed(cursor);
      if (first_visible) {
        read_compressed(cursor);  // the column
      } else {
        read_compressed_signed(cursor);
      }
      first_visible = false;
    }
    if (cursor.failed() || offset > il_offset || line < 0 || line > UINT32_MAX) break;
    if (visible) best = SequencePoint{document, static_cast<std::uint32_t>(line)};
  }
  return best;
}

}  // namespace mixwalk
