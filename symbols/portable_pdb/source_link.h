#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mixwalk {

// The addresses on the web from which source files can be read: a portable PDB's custom debug information "Source
// Link", JSON that maps paths of documents to URLs. A path or its beginning, with a star at its end, has a URL, in
// which the rest of the path takes the place of the star. (dotnet/designs, "source-link.md"; Microsoft.SourceLink's
// SourceLinkMap.) Pure; not frozen-safe.
class SourceLink {
 public:
  SourceLink() = default;
  // Entries that cannot be read, or whose URL is not one of http or https, are left out.
  explicit SourceLink(std::span<const std::byte> json);

  // Returns the URL of a document; empty if there is none.
  std::string url_of(std::string_view path) const;
  std::size_t bytes() const noexcept { return bytes_; }  // of memory

 private:
  struct Entry {
    std::string path;  // in lower case; its beginning, if `whole` is false
    bool whole = true;
    std::string before, behind;  // the URL around the rest of the path
  };
  std::vector<Entry> entries_;  // the longest path first
  std::size_t bytes_ = 0;
};

}  // namespace mixwalk
