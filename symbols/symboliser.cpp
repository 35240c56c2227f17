#include "symbols/symboliser.h"

#include <utility>

#include "symbols/pe_exports.h"

namespace mixwalk {

std::string_view to_string(ImageSymbols state) noexcept {
  switch (state) {
    case ImageSymbols::found:
      return "symbols were found";
    case ImageSymbols::unreadable:
      return "the image file cannot be read";
    case ImageSymbols::not_an_image:
      return "the file is no x64 image";
    case ImageSymbols::other_image:
      return "the file is not the image that was loaded";
  }
  return "unknown state";
}

std::unique_ptr<SymbolSource> open_exports(std::shared_ptr<const ImageFile> file) {
  return std::make_unique<PeExports>(std::move(file));
}

std::optional<NamedAddress> Symboliser::name(const LoadedImage& image, CodeAddress code) {
  // The look-up address decides whose it is; the frame's own may lie one behind the image.
  const std::uint64_t rva = code.lookup() - image.base;
  if (rva >= image.size) return std::nullopt;
  Opened& known = opened(image);
  if (!known.sources) known.sources = sources_of(known.file);
  for (const auto& source : *known.sources) {
    if (auto symbol = source->find(static_cast<std::uint32_t>(rva))) {
      const std::uint64_t displacement = code.address - image.base - symbol->rva;
      return NamedAddress{std::move(*symbol), displacement};
    }
  }
  return std::nullopt;
}

Symboliser::Opened& Symboliser::opened(const LoadedImage& image) {
  const auto [at, fresh] = images_.try_emplace({image.path, image.timestamp, image.size});
  if (fresh) at->second = open(image);
  return at->second;
}

Symboliser::Opened Symboliser::open(const LoadedImage& image) {
  if (image.path.empty()) return {ImageSymbols::unreadable};
  auto bytes = files_.read(image.path);
  if (!bytes) return {ImageSymbols::unreadable};
  auto file = std::make_shared<const ImageFile>(image.path, std::move(*bytes));
  if (file->image.error() != PeError::none) return {ImageSymbols::not_an_image};
  if (file->image.timestamp() != image.timestamp || file->image.size_of_image() != image.size) {
    return {ImageSymbols::other_image};
  }
  return {ImageSymbols::found, std::move(file)};
}

std::vector<std::unique_ptr<SymbolSource>> Symboliser::sources_of(
    const std::shared_ptr<const ImageFile>& file) {
  std::vector<std::unique_ptr<SymbolSource>> sources;
  if (file == nullptr) return sources;
  for (const OpenSource& open : open_) {
    if (auto source = open(file)) sources.push_back(std::move(source));
  }
  return sources;
}

}  // namespace mixwalk
