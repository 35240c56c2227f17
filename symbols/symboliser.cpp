#include "symbols/symboliser.h"

#include <utility>

#include "symbols/pe_exports.h"
#include "unmanaged/enum_texts.h"

namespace mixwalk {

std::string_view to_string(ImageSymbols state) noexcept {
  static constexpr EnumTexts<ImageSymbols::other_image> kTexts{
      "symbols were found",
      "the image file cannot be read",
      "the file is no x64 image",
      "the file is not the image that was loaded"};
  return kTexts.of(state, "unknown state");
}

std::unique_ptr<SymbolSource> open_exports(std::shared_ptr<const ImageFile> file) {
  return std::make_unique<PeExports>(std::move(file));
}

std::size_t Symboliser::Opened::bytes() const noexcept {
  std::size_t all = file != nullptr ? file->bytes.size() : 0;
  if (sources) {
    for (const auto& source : *sources) all += source->bytes();
  }
  return all;
}

std::optional<NamedAddress> Symboliser::name(const LoadedImage& image, CodeAddress code) {
  // The look-up address decides whether the code belongs to the image. The frame's own address may be the first byte
  // behind the image's end.
  const std::uint64_t rva = code.lookup() - image.base;
  if (rva >= image.size) return std::nullopt;
  Opened& known = opened(image);
  if (!known.sources) known.sources = sources_of(known.file, image);
  std::optional<NamedAddress> named;
  for (const auto& source : *known.sources) {
    if (auto symbol = source->find(static_cast<std::uint32_t>(rva))) {
      const std::uint64_t displacement = code.address - image.base - symbol->rva;
      named = NamedAddress{std::move(*symbol), displacement};
      break;
    }
  }
  images_.needs(known.bytes());
  return named;
}

Symboliser::Opened& Symboliser::opened(const LoadedImage& image) {
  Opened& known = images_.get({image.path, image.timestamp, image.size, image.code_view},
                              [&] { return open(image); });
  images_.needs(known.bytes());
  return known;
}

Symboliser::Opened Symboliser::open(const LoadedImage& image) {
  Opened first;
  bool any = false;
  for (const std::string& path : image_candidates(image.path, image.timestamp, image.size, path_)) {
    Opened found = open(path, image);
    if (found.state == ImageSymbols::found) return found;
    // If no image is found, the reason is that of the first file that could be read.
    if (!any && found.state != ImageSymbols::unreadable) {
      any = true;
      first = std::move(found);
    }
  }
  return first;
}

Symboliser::Opened Symboliser::open(const std::string& path, const LoadedImage& image) {
  auto bytes = files_.read(path);
  if (!bytes) return {ImageSymbols::unreadable};
  auto file = std::make_shared<const ImageFile>(path, std::move(*bytes));
  if (file->image.error() != PeError::none) return {ImageSymbols::not_an_image};
  if (file->image.timestamp() != image.timestamp || file->image.size_of_image() != image.size) {
    return {ImageSymbols::other_image};
  }
  return {ImageSymbols::found, std::move(file)};
}

std::vector<std::unique_ptr<SymbolSource>> Symboliser::sources_of(
    const std::shared_ptr<const ImageFile>& file, const LoadedImage& image) {
  std::vector<std::unique_ptr<SymbolSource>> sources;
  if (file == nullptr) {
    if (auto source = without_image_ ? without_image_(image) : nullptr) sources.push_back(std::move(source));
    return sources;
  }
  for (const OpenSource& open : open_) {
    if (auto source = open(file)) sources.push_back(std::move(source));
  }
  return sources;
}

}  // namespace mixwalk
