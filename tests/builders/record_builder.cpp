#include "tests/builders/record_builder.h"

#include <zlib.h>

#include <optional>

namespace mixwalk {
namespace {

constexpr std::size_t kMagicBytes = 9;
constexpr std::size_t kSealBytes = 5;
constexpr unsigned kDelimited = 2;

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

std::optional<std::uint64_t> take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

std::string seal(const std::string& bytes) {
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(bytes.data()),
                         static_cast<uInt>(bytes.size()));
  std::string field = "\x7D";
  for (unsigned shift = 0; shift < 32; shift += 8) field += static_cast<char>(sum >> shift);
  return field;
}

}  // namespace

std::string file_magic() { return "\n\7mixwalk"; }

std::string sealed(std::uint32_t field, const std::string& content) {
  const std::string bytes = varint(field << 3 | kDelimited) + varint(content.size() + kSealBytes) +
                            content;
  return bytes + seal(bytes);
}

std::string number_field(std::uint32_t field, std::uint64_t value) {
  return varint(field << 3) + varint(value);
}

std::string bytes_field(std::uint32_t field, std::string_view bytes) {
  return varint(field << 3 | kDelimited) + varint(bytes.size()) + std::string(bytes);
}

std::string packed(std::initializer_list<std::uint64_t> values) {
  std::string bytes;
  for (const std::uint64_t value : values) bytes += varint(value);
  return bytes;
}

std::string resealed(std::string_view file) {
  std::string out(file.substr(0, kMagicBytes));
  file.remove_prefix(out.size());
  while (!file.empty()) {
    std::string_view rest = file;
    const auto tag = take_varint(rest);
    const auto length = tag ? take_varint(rest) : std::nullopt;
    if (!length || *length < kSealBytes || *length > rest.size()) break;
    const std::size_t summed = file.size() - rest.size() + *length - kSealBytes;
    const std::string bytes(file.substr(0, summed));
    out += bytes + seal(bytes);
    file.remove_prefix(summed + kSealBytes);
  }
  return out.append(file);
}

}  // namespace mixwalk
