#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mixwalk {

// Where image files come from: the disk, or a test. Not frozen-safe.
class ImageFiles {
 public:
  virtual ~ImageFiles() = default;
  // The whole file; nothing where it cannot be read. `path`: UTF-8.
  virtual std::optional<std::vector<std::byte>> read(const std::string& path) = 0;
};

// Files of this machine, up to kMaxImageBytes each.
class DiskImageFiles final : public ImageFiles {
 public:
  // The largest images in the wild have a quarter of it.
  static constexpr std::uint64_t kMaxImageBytes = 1ull << 30;
  std::optional<std::vector<std::byte>> read(const std::string& path) override;
};

}  // namespace mixwalk
