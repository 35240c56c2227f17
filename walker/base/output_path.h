#pragma once

#include <cstdio>
#include <filesystem>

namespace mixwalk {

// Whether the path leads to a target that is written directly, and is never replaced by a file of that name: a pipe, a
// device (on Windows also by its bare name, NUL), a symbolic link.
bool is_written_through(const std::filesystem::path& path);

// Opens the file for writing, and empties it. A program that is started later does not inherit the open file, because
// that program would keep it open until its own end. Returns null if the file cannot be opened; errno says why.
std::FILE* open_for_writing(const std::filesystem::path& path);

// Whether both paths lead to one file, by whatever names: through links, and on Windows also through two drive letters
// for one folder (subst, a mapped drive). Returns false if one of the paths leads to no file.
bool is_same_file(const std::filesystem::path& one, const std::filesystem::path& other);

}  // namespace mixwalk
