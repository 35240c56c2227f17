#include "walker/base/list_folder.h"

#include <algorithm>
#include <system_error>

namespace mixwalk {

namespace fs = std::filesystem;

FolderListing list_folder(const fs::path& folder) {
  FolderListing listing;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code its;
    if (!at->is_directory(its)) listing.files.push_back(at->path().filename().string());
  }
  if (error) listing.error = error.message();
  std::ranges::sort(listing.files);
  return listing;
}

}  // namespace mixwalk
