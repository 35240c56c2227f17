#pragma once

#include <cstdio>
#include <filesystem>
#include <string>

namespace mixwalk {

// Whether the path leads to a target that is written directly, and is never replaced by a file of that name: a pipe, a
// device (on Windows also by its bare name, NUL), a symbolic link.
bool is_written_through(const std::filesystem::path& path);

// An output that is open for writing.
struct OpenedOutput {
  enum class Kind {
    stream,    // a pipe, a device, or an open file of this process (/dev/stdout): it has no content to be replaced
    existing,  // a file that existed: it has its content until empty()
    created,
  };
  std::FILE* file = nullptr;  // null if it cannot be opened; `why` then says why not
  Kind kind = Kind::stream;
  std::string why;
};

// Opens the file for writing, and changes nothing in it. While a file is open, no other mixwalk can open it for
// writing, because two writers would mix their bytes. A program that is started later does not inherit the open file,
// because that program would keep it open until its own end.
//
// `removable`: remove_at_end() may be called. Windows then lets only those programs read the file meanwhile that allow
// its removal, which few do.
OpenedOutput open_output(const std::filesystem::path& path, bool removable);

// Whether the open file `path` is removed if this process ends before it calls this again with false: on Windows
// however the process ends, on other systems by unfinished_output(), which knows one file. `file` may be null if it is
// closed.
void remove_at_end(std::FILE* file, const std::filesystem::path& path, bool remove);

// Removes the content of an open file. Returns false if that fails.
bool empty(std::FILE* file);

// Whether both paths lead to one file, by whatever names: through links, and on Windows also through two drive letters
// for one folder (subst, a mapped drive). Returns false if one of the paths leads to no file.
bool is_same_file(const std::filesystem::path& one, const std::filesystem::path& other);

}  // namespace mixwalk
