#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/image_file.h"
#include "symbols/image_files.h"
#include "symbols/loaded_image.h"
#include "symbols/open_cache.h"
#include "symbols/symbol_path.h"
#include "symbols/symbol_source.h"
#include "unmanaged/step/code_address.h"

namespace mixwalk {

// The symbol that belongs to a frame's address.
struct NamedAddress {
  Symbol symbol;
  std::uint64_t displacement = 0;  // bytes from the symbol's start to the address itself
};

// Whether an image has symbols at all, and the reason if it has none.
enum class ImageSymbols : std::uint8_t {
  found,
  unreadable,    // there is no file at that path, or it may not be read
  not_an_image,  // not an image, not an x64 image, or a damaged one
  other_image,   // another version than the one that was loaded is at that path
};
// Returns one line without a full stop.
std::string_view to_string(ImageSymbols state) noexcept;

// Opens one kind of source: all native symbols of an image (NativeSources), or its exports alone. Returns null if the
// image has no such symbols.
using OpenSource = std::function<std::unique_ptr<SymbolSource>(std::shared_ptr<const ImageFile> file)>;
std::unique_ptr<SymbolSource> open_exports(std::shared_ptr<const ImageFile> file);

// Opens a source for an image whose file is missing: its PDB, by the id that is known of it (LoadedImage::code_view).
// Returns null if there is none.
using OpenWithoutImage = std::function<std::unique_ptr<SymbolSource>(const LoadedImage& image)>;

// Names native code addresses. A file that is not the image that was loaded (another timestamp or size) is not used,
// because a wrong name is worse than no name. Each image is opened once, unless the images need too much memory. Not
// frozen-safe; one thread at a time.
class Symboliser {
 public:
  // The memory limit for all images together with their symbols. If they need more, the images that were not used for
  // the longest time are closed, and opened again when they are needed. The image that was used last is kept.
  static constexpr std::size_t kMaxBytes = 1024u * 1024 * 1024;

  // `sources` are in the order in which they are asked; the first that knows an address names it. Images are also
  // looked for in the folders of `path`, through `files`.
  Symboliser(ImageFiles& files, std::vector<OpenSource> sources, SymbolPath path = {},
             OpenWithoutImage without_image = {}, std::size_t max_bytes = kMaxBytes)
      : files_(files),
        open_(std::move(sources)),
        path_(std::move(path)),
        without_image_(std::move(without_image)),
        images_(max_bytes) {}

  std::optional<NamedAddress> name(const LoadedImage& image, CodeAddress code);
  ImageSymbols symbols_of(const LoadedImage& image) { return opened(image).state; }
  // Returns the image's file without looking for its symbols; null unless it is the image that was loaded.
  std::shared_ptr<const ImageFile> file_of(const LoadedImage& image) { return opened(image).file; }

  std::size_t bytes() const noexcept { return images_.bytes(); }  // memory in use by everything that is open

 private:
  struct Key {
    std::string path;
    std::uint32_t timestamp, size;
    std::optional<CodeViewId> code_view;
    auto operator<=>(const Key&) const = default;
  };
  struct Opened {
    ImageSymbols state = ImageSymbols::unreadable;
    std::shared_ptr<const ImageFile> file;
    // Opened when the first name is asked for.
    std::optional<std::vector<std::unique_ptr<SymbolSource>>> sources;

    std::size_t bytes() const noexcept;
  };
  Opened& opened(const LoadedImage& image);
  Opened open(const LoadedImage& image);
  Opened open(const std::string& path, const LoadedImage& image);
  std::vector<std::unique_ptr<SymbolSource>> sources_of(const std::shared_ptr<const ImageFile>& file,
                                                        const LoadedImage& image);

  ImageFiles& files_;
  std::vector<OpenSource> open_;
  SymbolPath path_;
  OpenWithoutImage without_image_;
  OpenCache<Key, Opened> images_;
};

}  // namespace mixwalk
