#include "walker/cli/input_file.h"

#include <cerrno>
#include <filesystem>
#include <iostream>
#include <system_error>

#include "walker/base/errno_text.h"
#include "walker/base/partial_file.h"
#include "walker/base/printable.h"

namespace mixwalk {

std::string input_words(const std::string& path) {
  return path == kStandardInput ? "standard input" : quoted_path(path);
}

Failure unreadable_file(const std::string& path, std::string_view why) {
  return {ExitCode::input, "cannot read " + input_words(path) + ": " + std::string(why)};
}

std::string InputFile::open(const std::string& name) {
  if (name == kStandardInput) {
    in_ = &std::cin;
    return {};
  }
  const std::filesystem::path path = path_of(name);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return errno_text(EISDIR);
  errno = 0;
  file_.open(path, std::ios::binary);
  return file_ ? "" : errno_text();
}

// This does not ask for the size first, because the input may be a pipe, or may still grow.
Outcome<std::string> file_bytes(const std::string& name, const std::function<bool(std::string_view)>& wanted) {
  constexpr std::size_t kReadBytes = std::size_t{1} << 20;
  InputFile file;
  if (const std::string why = file.open(name); !why.empty()) return unreadable_file(name, why);
  std::istream& in = file.stream();
  std::string bytes;
  while (in) {
    const std::size_t had = bytes.size();
    if (had >= kMaxInputBytes) return unreadable_file(name, "it is larger than 2 GiB");
    bytes.resize(had + kReadBytes);
    in.read(bytes.data() + had, kReadBytes);
    bytes.resize(had + static_cast<std::size_t>(in.gcount()));
    if (had == 0 && !wanted(bytes)) break;
  }
  if (in.bad()) return unreadable_file(name, errno_text());
  return bytes;
}

}  // namespace mixwalk
