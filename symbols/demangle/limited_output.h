#pragma once

// The text that LLVM's demanglers write, in place of the class of this name in LLVM's llvm/Demangle/Utility.h, which
// has no limit: a name of 300 characters can become gigabytes long, because each substitution repeats earlier text
// ("PS_", "IS0_S0_E"), and one of 100 characters can keep a demangler busy for hours without a single character of
// output (packs of empty packs). Here each character and each look at the position counts, and a name that needs more
// than DemangleWork::kMost is given up by an exception. llvm.cmake includes this file before LLVM's sources.

// LLVM's header has the same guard, so it is not read.
#define DEMANGLE_UTILITY_H

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "llvm/Demangle/DemangleConfig.h"

namespace mixwalk {

struct TooMuchWork {};

// What the name that this thread demangles has cost so far.
class DemangleWork {
 public:
  static constexpr std::size_t kMost = 4 * 1024 * 1024;

  static void begin() noexcept { spent() = 0; }
  static std::size_t done() noexcept { return spent(); }
  static void add(std::size_t work) {
    if ((spent() += work) > kMost) throw TooMuchWork{};
  }

 private:
  static std::size_t& spent() noexcept {
    thread_local std::size_t work = 0;
    return work;
  }
};

// How many values of classes are nested that this thread reads, also in the types of other values. A value that lies
// deeper is given up, because each of them takes a part of the stack.
class DemangleDepth {
 public:
  static constexpr int kMost = 50;

  DemangleDepth() {
    if (++depth() <= kMost) return;
    --depth();
    throw TooMuchWork{};
  }
  ~DemangleDepth() { --depth(); }
  DemangleDepth(const DemangleDepth&) = delete;
  DemangleDepth& operator=(const DemangleDepth&) = delete;

 private:
  static int& depth() noexcept {
    thread_local int now = 0;
    return now;
  }
};

// Whether back references count an anonymous namespace of the MSVC name that this thread demangles.
inline bool& msvc_counts_namespaces() noexcept {
  thread_local bool counts = true;
  return counts;
}

}  // namespace mixwalk

DEMANGLE_NAMESPACE_BEGIN

// The names and the meaning of all members are LLVM's.
class OutputBuffer {
  char* buffer_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;

  // LLVM's functions end with a buffer of malloc that the caller frees, so no destructor may do that.
  void reserve(std::size_t more) {
    try {
      mixwalk::DemangleWork::add(more);
    } catch (const mixwalk::TooMuchWork&) {
      std::free(std::exchange(buffer_, nullptr));
      throw;
    }
    if (size_ + more <= capacity_) return;
    capacity_ = std::max(size_ + more + 1024, 2 * capacity_);
    buffer_ = static_cast<char*>(std::realloc(buffer_, capacity_));
    if (buffer_ == nullptr) std::abort();
  }

 public:
  OutputBuffer() = default;
  OutputBuffer(const OutputBuffer&) = delete;
  OutputBuffer& operator=(const OutputBuffer&) = delete;

  operator std::string_view() const { return {buffer_, size_}; }

  unsigned CurrentPackIndex = std::numeric_limits<unsigned>::max();
  unsigned CurrentPackMax = std::numeric_limits<unsigned>::max();
  unsigned GtIsGt = 1;

  bool isGtInsideTemplateArgs() const { return GtIsGt == 0; }
  void printOpen(char open = '(') {
    ++GtIsGt;
    *this += open;
  }
  void printClose(char close = ')') {
    --GtIsGt;
    *this += close;
  }

  OutputBuffer& operator+=(std::string_view text) {
    insert(size_, text.data(), text.size());
    return *this;
  }
  OutputBuffer& operator+=(char c) { return *this += std::string_view(&c, 1); }
  OutputBuffer& operator<<(std::string_view text) { return *this += text; }
  OutputBuffer& operator<<(char c) { return *this += c; }
  template <class Number>
    requires std::is_integral_v<Number>
  OutputBuffer& operator<<(Number number) {
    std::array<char, 21> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return *this += std::string_view(digits.data(), end);
  }
  void insert(std::size_t at, const char* text, std::size_t count) {
    if (count == 0) return;
    reserve(at == size_ ? count : count + size_ - at);
    std::memmove(buffer_ + at + count, buffer_ + at, size_ - at);
    std::memcpy(buffer_ + at, text, count);
    size_ += count;
  }

  std::size_t getCurrentPosition() const {
    mixwalk::DemangleWork::add(1);
    return size_;
  }
  void setCurrentPosition(std::size_t position) { size_ = position; }
  char back() const { return buffer_[size_ - 1]; }
  bool empty() const { return size_ == 0; }
  char* getBuffer() { return buffer_; }
};

template <class T>
class ScopedOverride {
  T& place_;
  T before_;

 public:
  explicit ScopedOverride(T& place) : ScopedOverride(place, place) {}
  ScopedOverride(T& place, T now) : place_(place), before_(place) { place = std::move(now); }
  ~ScopedOverride() { place_ = std::move(before_); }
  ScopedOverride(const ScopedOverride&) = delete;
  ScopedOverride& operator=(const ScopedOverride&) = delete;
};

DEMANGLE_NAMESPACE_END
