#pragma once

#include <filesystem>
#include <string>

namespace mixwalk {

// Makes the folder so that only this user can read it, or what is in it. One that is there already
// becomes so; if that cannot be, or if it is a link to another place, nothing is changed. The folders
// above are made as the system makes them. Empty: done. Else why not, one line.
std::string make_private_folder(const std::filesystem::path& folder);

}  // namespace mixwalk
