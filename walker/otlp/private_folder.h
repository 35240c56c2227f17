#pragma once

#include <filesystem>
#include <string>

namespace mixwalk {

// Creates the folder so that only this user can read it and what is in it. An existing folder gets the same rights;
// where that is not possible, or where it is a link to another place, nothing is changed. The folders above are created
// with the system's default rights. Returns an empty text if done, otherwise one line that says why not.
std::string make_private_folder(const std::filesystem::path& folder);

}  // namespace mixwalk
