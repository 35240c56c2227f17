#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace mixwalk {

struct FolderListing {
  // The names of all entries that are no folders, sorted, for path_of(). On Windows in UTF-8; parts of a name that are
  // not Unicode become U+FFFD.
  std::vector<std::string> files;
  std::string error;  // why the folder cannot be read; empty if it was
};

// The files of a folder.
//
// Folklore. Situation: the path of a folder on Windows has more than 260 characters. Real case: the directory_iterator
// of mingw's libstdc++ lists nothing there, since its C library copies the path into a buffer of that size. Remedy: on
// Windows the system itself is asked, in the form of path that has no such limit. Test: long_folder_test.
FolderListing list_folder(const std::filesystem::path& folder);

}  // namespace mixwalk
