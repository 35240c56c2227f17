#include "unmanaged/image/exports_name.h"

#include <gtest/gtest.h>

#include <exception>

#include "tests/builders/image_builder.h"

namespace mixwalk {
namespace {

using test::ImageBuilder;

constexpr std::uint64_t kBase = 0x140000000;

// The image as it is in memory.
class Loaded final : public MemoryReader {
 public:
  explicit Loaded(const ImageBuilder& builder) : file_(builder.build()) {}

  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    try {
      for (std::size_t i = 0; i < bytes; ++i) {
        const std::uint64_t rva = address + i - kBase;
        if (rva >= ImageBuilder::kSizeOfImage) return false;
        const std::size_t at =
            rva < ImageBuilder::kCode
                ? static_cast<std::size_t>(rva)
                : ImageBuilder::offset_of(file_, static_cast<std::uint32_t>(rva));
        static_cast<std::byte*>(into)[i] = file_.at(at);
      }
    } catch (const std::exception&) {
      return false;  // no section is there
    }
    return true;
  }
  std::vector<std::byte>& file() { return file_; }

 private:
  std::vector<std::byte> file_;
};

ImageBuilder with_exports() {
  ImageBuilder builder;
  for (const char* name : {"BrotliDecoderVersion", "DotNetRuntimeInfo", "DotNetRuntimeInfoX", "a"}) {
    builder.export_name(name, ImageBuilder::kCode);
  }
  return builder;
}

TEST(ExportsName, EachOfItsNamesAndNoOther) {
  const Loaded image(with_exports());
  for (const char* name : {"BrotliDecoderVersion", "DotNetRuntimeInfo", "DotNetRuntimeInfoX", "a"}) {
    EXPECT_TRUE(exports_name(image, kBase, name)) << name;
  }
  for (const char* name : {"A", "DotNetRuntimeInf", "RTR_HEADER", "b", ""}) {
    EXPECT_FALSE(exports_name(image, kBase, name)) << name;
  }
}

TEST(ExportsName, AnImageWithoutExports) {
  EXPECT_FALSE(exports_name(Loaded(ImageBuilder()), kBase, kRuntimeInSingleFile));
}

TEST(ExportsName, WhatCannotBeReadHasNone) {
  const Loaded image(with_exports());
  EXPECT_FALSE(exports_name(image, kBase + 0x100000, kRuntimeInSingleFile));
  EXPECT_FALSE(exports_name(image, kBase, std::string(33, 'a')));
  // The header fields are changed so that they lead anywhere.
  for (std::size_t at = 0; at < 0x200; at += 4) {
    Loaded damaged(with_exports());
    if (at + 4 <= damaged.file().size()) ImageBuilder::put32(damaged.file(), at, 0xFFFFFFF0);
    exports_name(damaged, kBase, kRuntimeInSingleFile);
  }
}

}  // namespace
}  // namespace mixwalk
