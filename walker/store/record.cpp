#include "walker/store/record.h"

#include <zlib.h>

#include <iterator>

#include "walker/base/checked_protozero.h"

namespace mixwalk {
namespace {

constexpr std::uint32_t tag(std::uint32_t field, protozero::pbf_wire_type type) {
  return field << 3 | static_cast<std::uint32_t>(type);
}

constexpr char kChecksumTag =
    static_cast<char>(tag(layout::kChecksum, protozero::pbf_wire_type::fixed32));

std::uint32_t checksum(std::string_view bytes, std::uint32_t so_far = 0) noexcept {
  return static_cast<std::uint32_t>(
      crc32_z(so_far, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

std::string encode_record(layout::File kind, std::string content) {
  std::string head;
  protozero::write_varint(std::back_inserter(head),
                          tag(static_cast<std::uint32_t>(kind),
                              protozero::pbf_wire_type::length_delimited));
  protozero::write_varint(std::back_inserter(head), content.size() + layout::kChecksumBytes);
  const std::uint32_t sum = checksum(content, checksum(head));
  content.insert(0, head);
  content += kChecksumTag;
  for (unsigned shift = 0; shift < 32; shift += 8) content += static_cast<char>(sum >> shift);
  return content;
}

Record next_record(std::string_view bytes) noexcept {
  Record record;
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  std::uint64_t outer = 0, length = 0;
  try {
    outer = protozero::decode_varint(&at, end);
    length = protozero::decode_varint(&at, end);
  } catch (const protozero::end_of_buffer_exception&) {
    return record;
  } catch (const protozero::exception&) {
    return {.state = Record::State::damaged};
  }
  const auto rest = static_cast<std::size_t>(end - at);
  const bool delimited =
      (outer & 7) == static_cast<std::uint64_t>(protozero::pbf_wire_type::length_delimited);
  record.state = Record::State::damaged;
  if (!delimited || outer >> 3 == 0 || outer >> 32 != 0 || length < layout::kChecksumBytes) {
    return record;
  }
  if (length > rest) {
    record.state = Record::State::torn;
    return record;
  }
  const std::string_view content(at, static_cast<std::size_t>(length));
  const std::size_t summed = content.size() - layout::kChecksumBytes;
  record.size = static_cast<std::size_t>(at - bytes.data()) + content.size();
  if (content[summed] != kChecksumTag) return record;
  std::uint32_t sum = 0;
  for (unsigned i = 0; i < 4; ++i) {
    sum |= std::uint32_t{static_cast<unsigned char>(content[summed + 1 + i])} << (8 * i);
  }
  if (checksum(bytes.substr(0, record.size - layout::kChecksumBytes)) != sum) return record;
  record.state = Record::State::whole;
  record.kind = static_cast<layout::File>(outer >> 3);
  record.content = content.substr(0, summed);
  return record;
}

}  // namespace mixwalk
