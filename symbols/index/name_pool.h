#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace mixwalk {

// The number of a text in a NamePool. 0 is the empty text, which means that there is no name.
using NameId = std::uint32_t;
inline constexpr NameId kNoName = 0;

// Stores the names and the paths of one image's symbols, each text once, for all indices of the image. The pool only
// grows, so a view of a text stays valid as long as the pool. Not frozen-safe; one thread at a time.
class NamePool {
 public:
  // In bytes. The longest names of C++ templates in the wild have some 60 KiB; longer names are cut off.
  static constexpr std::size_t kMaxName = 128 * 1024;
  // The limit in bytes for all texts together. A browser's debug data has some 100 MiB of different names. When the
  // pool is full, a new text becomes the empty one.
  static constexpr std::size_t kMaxBytes = 512u * 1024 * 1024;

  NamePool();

  NameId intern(std::string_view text);
  // `id` is one of this pool.
  std::string_view text(NameId id) const noexcept;

  bool full() const noexcept { return full_; }
  std::size_t bytes() const noexcept;  // memory in use

 private:
  static constexpr unsigned kBlockBits = 18;  // 256 KiB, so that a text with its length fits in one block
  static constexpr std::uint32_t kBlockBytes = 1u << kBlockBits;

  NameId append(std::string_view text);
  void grow();

  std::vector<std::unique_ptr<char[]>> blocks_;
  std::uint32_t used_ = kBlockBytes;  // bytes used of the last block
  std::vector<NameId> slots_;         // open addressing, by hash; a power of two
  std::size_t count_ = 0;
  bool full_ = false;
};

}  // namespace mixwalk
