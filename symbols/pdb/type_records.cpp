#include "symbols/pdb/type_records.h"

#include "symbols/byte_cursor.h"

namespace mixwalk {

void TypeRecords::load() {
  loaded_ = true;
  bytes_ = msf_.read(stream_);
  ByteCursor header(bytes_.get());
  header.skip(4);  // version
  const std::uint32_t header_bytes = header.u32();
  first_ = header.u32();
  header.skip(4);  // the index behind the last
  const std::uint32_t record_bytes = header.u32();
  ByteCursor stream(bytes_.get());
  stream.skip(header_bytes);
  records_ = stream.take(record_bytes);
  if (header.failed() || stream.failed()) return;
  ByteCursor cursor(records_);
  while (cursor.left() >= 2) {
    const std::size_t offset = cursor.at();
    cursor.skip(cursor.u16());
    if (cursor.failed()) return;
    if (count_++ % kStride == 0) offsets_.push_back(static_cast<std::uint32_t>(offset));
  }
}

TypeRecords::Record TypeRecords::at(std::uint32_t index) {
  if (!loaded_) load();
  if (index < first_ || index - first_ >= count_) return {};
  const std::uint32_t number = index - first_;
  ByteCursor cursor(records_);
  cursor.skip(offsets_[number / kStride]);
  for (std::uint32_t i = 0; i < number % kStride; ++i) cursor.skip(cursor.u16());
  ByteCursor record(cursor.take(cursor.u16()));
  const std::uint16_t kind = record.u16();
  const auto data = record.rest();
  return record.failed() ? Record() : Record{kind, data};
}

}  // namespace mixwalk
