#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mixwalk {

// The name and the id under which symbol stores have a file: symbol_store_id() or image_store_id(). Both may come from
// a target, so they are checked before they become a part of a path.
struct StoreKey {
  std::string name, id;
  // The sums that the file must have by what its image says, "SHA256:0123…", several separated by ';'. They are
  // sent to servers, some of which give a portable PDB only to a client that sends them. Empty if they are not known.
  std::string checksums = {};
};

// A file that was loaded.
struct FetchedFile {
  std::string path;  // in a store of this machine
  std::vector<std::byte> bytes;
};

// Returns why these bytes are not the file that is wanted, in one line; empty if they are.
using FileCheck = std::function<std::string(std::span<const std::byte>)>;

// Loads files that are in no folder of this machine, by their identity. Not frozen-safe, and not to be used while a
// thread of the target is suspended, because a server may take long.
class StoreFetch {
 public:
  virtual ~StoreFetch() = default;
  // Returns nothing if no server has the file, or if what a server gives does not pass the check.
  virtual std::optional<FetchedFile> fetch(const StoreKey& key, const FileCheck& check) = 0;
};

// Checks that bytes are the whole file of an x64 image with this timestamp and this SizeOfImage.
FileCheck image_check(std::uint32_t timestamp, std::uint32_t size_of_image);
// Loads the file of an image. `path` is the image's path, which ends with the name by which it is known. Returns
// nothing if `servers` is null.
std::optional<FetchedFile> fetch_image(StoreFetch* servers, std::string_view path, std::uint32_t timestamp,
                                       std::uint32_t size_of_image);

}  // namespace mixwalk
