#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace mixwalk {

// Reads little-endian values one after the other from untrusted bytes. Pure.
//
// A read beyond the end gives zero, moves to the end, and makes failed() true for good: a parser may read a whole
// record and check failed() once, before it trusts any of it.
class ByteCursor {
 public:
  explicit ByteCursor(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  template <class T>
  T read() noexcept {
    static_assert(std::is_integral_v<T>);
    T value = 0;
    const std::span<const std::byte> from = take(sizeof(T));
    if (!from.empty()) std::memcpy(&value, from.data(), sizeof(T));
    return value;
  }
  std::uint8_t u8() noexcept { return read<std::uint8_t>(); }
  std::uint16_t u16() noexcept { return read<std::uint16_t>(); }
  std::uint32_t u32() noexcept { return read<std::uint32_t>(); }

  // Returns the next bytes; the result is empty if there are not so many.
  std::span<const std::byte> take(std::size_t count) noexcept {
    if (count > left()) {
      fail();
      return {};
    }
    const auto taken = bytes_.subspan(at_, count);
    at_ += count;
    return taken;
  }
  std::span<const std::byte> rest() noexcept { return take(left()); }
  void skip(std::size_t count) noexcept { take(count); }

  // Returns the text up to the next zero byte, and moves behind that byte. Fails if there is no zero byte.
  std::string_view text() noexcept {
    const auto* const begin = reinterpret_cast<const char*>(bytes_.data() + at_);
    const void* const end = left() == 0 ? nullptr : std::memchr(begin, 0, left());
    if (end == nullptr) {
      fail();
      return {};
    }
    const std::size_t length = static_cast<std::size_t>(static_cast<const char*>(end) - begin);
    at_ += length + 1;
    return {begin, length};
  }

  // Skips to the next multiple of `unit` (a power of two), counted from the first byte.
  void align(std::size_t unit) noexcept { skip((unit - at_ % unit) % unit); }

  std::size_t at() const noexcept { return at_; }
  std::size_t left() const noexcept { return bytes_.size() - at_; }
  bool failed() const noexcept { return failed_; }
  void fail() noexcept {
    at_ = bytes_.size();
    failed_ = true;
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace mixwalk
