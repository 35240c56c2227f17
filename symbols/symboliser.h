#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/image_file.h"
#include "symbols/image_files.h"
#include "symbols/symbol_source.h"
#include "unmanaged/step/code_address.h"

namespace mixwalk {

// An image as it was loaded.
struct LoadedImage {
  std::string path;  // UTF-8
  std::uint64_t base = 0;
  std::uint32_t size = 0;       // SizeOfImage
  std::uint32_t timestamp = 0;  // IMAGE_FILE_HEADER.TimeDateStamp
};

// What is known of a frame's address.
struct NamedAddress {
  Symbol symbol;
  std::uint64_t displacement = 0;  // bytes from the symbol's start to the address itself
};

// Whether an image has symbols at all, and why not.
enum class ImageSymbols : std::uint8_t {
  found,
  unreadable,    // no file of that path, or it may not be read
  not_an_image,  // or not an x64 one, or a damaged one
  other_image,   // another version lies there than the one that was loaded
};
// One line, no full stop.
std::string_view to_string(ImageSymbols state) noexcept;

// Opens a kind of source: all native symbols of an image (NativeSources), or its exports alone. Null where the
// image has no such symbols.
using OpenSource = std::function<std::unique_ptr<SymbolSource>(std::shared_ptr<const ImageFile> file)>;
std::unique_ptr<SymbolSource> open_exports(std::shared_ptr<const ImageFile> file);

// Names native code addresses; opens each image once. A file that is not the image that was loaded
// (another timestamp or size) names nothing: a wrong name is worse than none. Not frozen-safe; one
// thread at a time.
class Symboliser {
 public:
  // `sources`: in the order in which they are asked; the first that knows an address names it.
  Symboliser(ImageFiles& files, std::vector<OpenSource> sources)
      : files_(files), open_(std::move(sources)) {}

  std::optional<NamedAddress> name(const LoadedImage& image, CodeAddress code);
  ImageSymbols symbols_of(const LoadedImage& image) { return opened(image).state; }
  // The image's file, without a look for its symbols; null unless it is the image that was loaded.
  std::shared_ptr<const ImageFile> file_of(const LoadedImage& image) { return opened(image).file; }

 private:
  struct Key {
    std::string path;
    std::uint32_t timestamp, size;
    auto operator<=>(const Key&) const = default;
  };
  struct Opened {
    ImageSymbols state = ImageSymbols::unreadable;
    std::shared_ptr<const ImageFile> file;
    // Opened when the first name is asked for.
    std::optional<std::vector<std::unique_ptr<SymbolSource>>> sources;
  };
  Opened& opened(const LoadedImage& image);
  Opened open(const LoadedImage& image);
  std::vector<std::unique_ptr<SymbolSource>> sources_of(const std::shared_ptr<const ImageFile>& file);

  ImageFiles& files_;
  std::vector<OpenSource> open_;
  std::map<Key, Opened> images_;
};

}  // namespace mixwalk
