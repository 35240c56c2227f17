#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "walker/base/failure.h"
#include "walker/base/list_folder.h"
#include "walker/cli/options/options.h"

namespace mixwalk {

// Names of files in which * stands for any characters and ? for one. A shell of Windows passes them to the program as
// they are, and no file of Windows has such a name. On other systems the shell replaces them.

// list_folder, or another one for tests. If it is empty, names mean what they say, as on systems other than Windows.
using ListFolder = std::function<FolderListing(const std::filesystem::path& folder)>;

// Whether a file's name fits. Upper and lower case of ASCII count as equal. As Windows' users expect, *.* is any name.
bool fits_wildcards(std::string_view pattern, std::string_view name);

// Replaces each name with wildcards by those of the files, sorted. A name that is in the list already is not added
// again. Fails if no file fits, or if a folder's name has wildcards.
std::optional<Failure> expand_names(std::vector<std::string>& names, const ListFolder& list_folder);

// Does this for the files that a command reads. Fails if a command that reads one file gets several.
std::optional<Failure> expand_inputs(Command& command, const ListFolder& list_folder);

}  // namespace mixwalk
