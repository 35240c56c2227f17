#include "walker/clr/contracts/runtime_reader.h"

#include <algorithm>
#include <array>

#include "unmanaged/image/utf16.h"
#include "walker/base/utf8.h"

namespace mixwalk {
namespace {

constexpr std::size_t kStepBytes = 256;
constexpr std::size_t kMaxTextUnits = std::size_t{1} << 20;

// The bytes of a text up to its zero, in units of `unit` bytes.
std::vector<std::byte> text_bytes(const MemoryReader& memory, std::uint64_t address, std::size_t most,
                                  std::size_t unit) {
  const std::size_t limit = std::min(most, kMaxTextUnits) * unit;
  std::vector<std::byte> text;
  while (address != 0 && text.size() < limit) {
    std::array<std::byte, kStepBytes> part;
    const std::size_t wanted = std::min(part.size(), limit - text.size());
    const std::size_t read = memory.read_up_to(address + text.size(), part.data(), wanted) / unit * unit;
    for (std::size_t at = 0; at < read; at += unit) {
      const auto begin = part.begin() + static_cast<std::ptrdiff_t>(at);
      const auto end = begin + static_cast<std::ptrdiff_t>(unit);
      if (std::all_of(begin, end, [](std::byte byte) { return byte == std::byte{0}; })) return text;
      text.insert(text.end(), begin, end);
    }
    if (read < wanted) return text;
  }
  return text;
}

}  // namespace

std::string RuntimeReader::utf8(std::uint64_t address, std::size_t most) const {
  const std::vector<std::byte> text = text_bytes(memory_, address, most, 1);
  return valid_utf8({reinterpret_cast<const char*>(text.data()), text.size()});
}

std::string RuntimeReader::utf16(std::uint64_t address, std::size_t most) const {
  return utf8_of_utf16(text_bytes(memory_, address, most, 2));
}

std::string RuntimeReader::utf16_units(std::uint64_t address, std::size_t units, std::size_t most) const {
  const auto text = bytes(address, std::min({units, most, kMaxTextUnits}) * 2);
  return text ? utf8_of_utf16(*text) : std::string();
}

std::optional<std::vector<std::byte>> RuntimeReader::bytes(std::uint64_t address, std::size_t bytes) const {
  if (bytes > kMaxBytes) return std::nullopt;
  // A forged size must not make room for what is not there.
  std::vector<std::byte> read;
  constexpr std::size_t kChunk = std::size_t{1} << 20;
  while (read.size() < bytes) {
    const std::size_t done = read.size();
    read.resize(std::min(bytes, done + kChunk));
    if (!memory_.read(address + done, read.data() + done, read.size() - done)) return std::nullopt;
  }
  return read;
}

}  // namespace mixwalk
