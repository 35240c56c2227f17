#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace mixwalk {

// Opened objects, by key, within a budget of memory. If together they need more, the objects that were not used for the
// longest time are closed, and opened again when they are needed. The object that was used last is kept, however large
// it is. Objects that need no memory (there is nothing to open) are kept for good. Not frozen-safe; one thread at a
// time.
template <class Key, class Value>
class OpenCache {
 public:
  explicit OpenCache(std::size_t max_bytes) noexcept : max_bytes_(max_bytes) {}

  // The result is valid until the next get(). `open` makes the value if it is not open.
  template <class Open>
  Value& get(const Key& key, Open open) {
    const auto [at, fresh] = entries_.try_emplace(key);
    last_ = &at->second;
    if (fresh) last_->value = open();
    last_->asked = ++questions_;
    return last_->value;
  }
  // Called when the value that get() returned last was opened, or may have grown.
  void needs(std::size_t bytes) {
    bytes_ += bytes - last_->bytes;
    last_->bytes = bytes;
    while (bytes_ > max_bytes_ && close_oldest()) {
    }
  }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct Entry {
    Value value{};
    std::size_t bytes = 0;
    std::uint64_t asked = 0;  // the value of questions_ when it was used last
  };

  bool close_oldest() {
    auto oldest = entries_.end();
    for (auto at = entries_.begin(); at != entries_.end(); ++at) {
      if (&at->second == last_ || at->second.bytes == 0) continue;
      if (oldest == entries_.end() || at->second.asked < oldest->second.asked) oldest = at;
    }
    if (oldest == entries_.end()) return false;
    bytes_ -= oldest->second.bytes;
    entries_.erase(oldest);
    return true;
  }

  std::size_t max_bytes_, bytes_ = 0;
  std::uint64_t questions_ = 0;
  Entry* last_ = nullptr;
  std::map<Key, Entry> entries_;
};

}  // namespace mixwalk
