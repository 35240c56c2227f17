#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "symbols/pe_exports.h"
#include "symbols/symboliser.h"

namespace mixwalk::test {

// Names native code by the exports of its image alone, or by the symbols that a test makes.
class FakeSymboliser final : public Symboliser {
 public:
  // `file` is null if the image's file is missing. May return null.
  using Open = std::function<std::unique_ptr<SymbolSource>(const std::shared_ptr<const ImageFile>& file,
                                                           const LoadedImage& image)>;

  explicit FakeSymboliser(ImageFiles& files, Open open = exports, SymbolPath path = {},
                          std::size_t max_bytes = kMaxBytes)
      : Symboliser(files, files, std::move(path), nullptr, max_bytes), open_(std::move(open)) {}
  FakeSymboliser(ImageFiles& files, SymbolPath path) : FakeSymboliser(files, exports, std::move(path)) {}

  static std::unique_ptr<SymbolSource> exports(const std::shared_ptr<const ImageFile>& file, const LoadedImage&) {
    return file != nullptr ? std::make_unique<PeExports>(file) : nullptr;
  }

  // As the product opens them.
  std::unique_ptr<SymbolSource> open_all(const std::shared_ptr<const ImageFile>& file, const LoadedImage& image) {
    return Symboliser::open_symbols(file, image);
  }

 protected:
  std::unique_ptr<SymbolSource> open_symbols(const std::shared_ptr<const ImageFile>& file,
                                             const LoadedImage& image) override {
    return open_(file, image);
  }

 private:
  Open open_;
};

}  // namespace mixwalk::test
