#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mixwalk::test {

// Writes little-endian values one after the other.
class ByteWriter {
 public:
  ByteWriter& u8(std::uint64_t value) { return number(value, 1); }
  ByteWriter& u16(std::uint64_t value) { return number(value, 2); }
  ByteWriter& u32(std::uint64_t value) { return number(value, 4); }
  ByteWriter& u64(std::uint64_t value) { return number(value, 8); }
  ByteWriter& zeros(std::size_t count) {
    bytes_.resize(bytes_.size() + count);
    return *this;
  }
  // Writes the text and a zero byte behind it.
  ByteWriter& text(const std::string& value) {
    for (const char c : value) u8(static_cast<unsigned char>(c));
    return u8(0);
  }
  ByteWriter& append(const std::vector<std::byte>& more) {
    bytes_.insert(bytes_.end(), more.begin(), more.end());
    return *this;
  }
  ByteWriter& append(std::initializer_list<int> more) {
    for (const int value : more) u8(static_cast<unsigned>(value));
    return *this;
  }
  ByteWriter& align(std::size_t unit) { return zeros((unit - bytes_.size() % unit) % unit); }
  void set32(std::size_t at, std::uint32_t value) {
    for (int i = 0; i < 4; ++i) bytes_.at(at + i) = static_cast<std::byte>(value >> 8 * i);
  }

  std::size_t size() const { return bytes_.size(); }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  ByteWriter& number(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) bytes_.push_back(static_cast<std::byte>(value >> 8 * i));
    return *this;
  }
  std::vector<std::byte> bytes_;
};

}  // namespace mixwalk::test
