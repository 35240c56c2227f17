#pragma once

#include <filesystem>
#include <string>

namespace mixwalk {

// Creates the folder so that only this user can read it and its content. An existing folder gets the same rights; if
// that is not possible, or if the folder is a link to another place, nothing is changed. The folders above are created
// with the system's default rights. Returns an empty text if that succeeded, otherwise one line that says why not.
std::string make_private_folder(const std::filesystem::path& folder);

}  // namespace mixwalk
