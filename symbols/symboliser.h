#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "symbols/image_file.h"
#include "symbols/image_files.h"
#include "symbols/loaded_image.h"
#include "symbols/native_aot/stack_trace_map.h"
#include "symbols/open_cache.h"
#include "symbols/pdb/pdb_finder.h"
#include "symbols/server/store_fetch.h"
#include "symbols/symbol_path.h"
#include "symbols/symbol_source.h"
#include "unmanaged/step/code_address.h"

namespace mixwalk {

// The symbol that belongs to a frame's address.
struct NamedAddress {
  Symbol symbol;
  std::uint64_t displacement = 0;  // bytes from the symbol's start to the address itself
};

// Names native code addresses, by everything that is known about the code of an image: its PDB or DWARF, the linker's
// symbols, the exports, and finally .pdata (NativeSymbols documents the order and the rules). Not frozen-safe; one
// thread at a time.
//
// Names are demangled completely. A function without any name is called "sub_1a2b0", after the RVA where it begins, so
// that two samples of one function have the same name, in every format and every recording of the same build. Code
// without unwind data and without a name has no symbol. If an image's file is missing, its PDB alone is used, which is
// found by LoadedImage::code_view; no function is called "sub_1a2b0" then.
//
// A file that is not the image that was loaded (another timestamp or size) is not used, because a wrong name is worse
// than no name. Each image is opened once, unless the images need too much memory.
class Symboliser {
 public:
  // The memory limit for all images together with their symbols. If they need more, the images that were not used for
  // the longest time are closed, and opened again when they are needed. The image that was used last is kept.
  static constexpr std::size_t kMaxBytes = 1024u * 1024 * 1024;

  // `files` reads images, also from the folders of `path`, and the files that images name (their PDB, their
  // .gnu_debuglink). `path_files` reads PDBs in the folders of `path`, which the user named. `servers` loads images and
  // PDBs that are not there; null: no server is asked.
  Symboliser(ImageFiles& files, ImageFiles& path_files, SymbolPath path = {}, StoreFetch* servers = nullptr,
             std::size_t max_bytes = kMaxBytes)
      : files_(files),
        path_(path),
        servers_(servers),
        pdbs_(files, path_files, std::move(path), servers),
        images_(max_bytes) {}
  virtual ~Symboliser() = default;

  std::optional<NamedAddress> name(const LoadedImage& image, CodeAddress code);
  // Returns the image's file without looking for its symbols; null unless it is the image that was loaded.
  std::shared_ptr<const ImageFile> file_of(const LoadedImage& image) { return opened(image).file; }

  std::size_t bytes() const noexcept { return images_.bytes(); }  // memory in use by everything that is open
  // The PDBs that were not found, for the images that were opened.
  const std::vector<MissingPdb>& missing() const noexcept { return pdbs_.missing(); }
  // What a person should know about symbol files: PdbFinder::problems(), and the same of DWARF and of NativeAOT's map
  // of methods. Each once, as one line without a full stop.
  std::vector<std::string> problems() const;

 protected:
  // Opens the symbols of an image, when its first name is asked for. `file` is null if it is missing. Returns null if
  // there are no symbols. Virtual for tests.
  virtual std::unique_ptr<SymbolSource> open_symbols(const std::shared_ptr<const ImageFile>& file,
                                                     const LoadedImage& image);

 private:
  struct Key {
    std::string path;
    std::uint32_t timestamp, size;
    std::optional<CodeViewId> code_view;
    auto operator<=>(const Key&) const = default;
  };
  struct Opened {
    std::shared_ptr<const ImageFile> file;
    std::optional<std::unique_ptr<SymbolSource>> symbols;  // opened when the first name is asked for

    std::size_t bytes() const noexcept;
  };
  Opened& opened(const LoadedImage& image);
  // `has_pdb`: the names that the map lacks come from the PDB, so nothing is said about them.
  StackTraceMap open_methods(const ImageFile& file, bool has_pdb);
  std::shared_ptr<const ImageFile> open(const LoadedImage& image);

  ImageFiles& files_;
  SymbolPath path_;
  StoreFetch* servers_;
  PdbFinder pdbs_;
  std::set<std::string> problems_;  // of other files than PDBs
  OpenCache<Key, Opened> images_;
};

}  // namespace mixwalk
