#include "walker/cli/win/output_file.h"

#include <io.h>
#include <windows.h>

#include <cerrno>

#include "unmanaged/win/utf8.h"
#include "walker/base/errno_text.h"
#include "walker/session/win/win_error.h"

namespace mixwalk {

Outcome<OutputFile> OutputFile::open(const std::optional<std::string>& path) {
  if (!path) return OutputFile(stdout, {}, {}, false);
  const std::wstring wide = to_utf16(*path);
  std::wstring temporary = wide + L".partial";
  const DWORD attributes = GetFileAttributesW(wide.c_str());
  std::FILE* file = nullptr;
  if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) {
    SetLastError(ERROR_DIRECTORY);
  } else {
    // N: not inherited. A program that we start would hold the file open, and it could not take its
    // name at the end.
    file = _wfopen(temporary.c_str(), L"wbN");
  }
  if (file == nullptr) {
    return Failure{ExitCode::output, "cannot write \"" + *path + "\": " + last_error()};
  }
  return OutputFile(file, wide, std::move(temporary), attributes != INVALID_FILE_ATTRIBUTES);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : file_(std::exchange(other.file_, nullptr)),
      path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      replaces_(other.replaces_) {}

OutputFile::~OutputFile() {
  if (file_ == nullptr || file_ == stdout) return;
  std::fclose(file_);
  DeleteFileW(temporary_.c_str());
}

bool OutputFile::is_terminal() const { return file_ == stdout && _isatty(_fileno(stdout)) != 0; }

std::string OutputFile::error() const {
  return std::ferror(file_) == 0 ? std::string() : errno_text(errno == 0 ? ENOSPC : errno);
}

std::string OutputFile::commit() {
  errno = 0;
  if (std::fflush(file_) != 0 || std::ferror(file_) != 0) {
    return errno_text(errno == 0 ? ENOSPC : errno);
  }
  if (file_ == stdout) return {};
  std::string why;
  if (std::fclose(std::exchange(file_, nullptr)) != 0) {
    why = errno_text();
  } else if (!MoveFileExW(temporary_.c_str(), path_.c_str(), MOVEFILE_REPLACE_EXISTING)) {
    why = last_error();
  }
  if (!why.empty()) DeleteFileW(temporary_.c_str());
  return why;
}

}  // namespace mixwalk
