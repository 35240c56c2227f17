#include "walker/cli/win/growing_file.h"

#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>
#include <windows.h>

#include <algorithm>
#include <cerrno>

#include "unmanaged/win/utf8.h"
#include "walker/base/errno_text.h"
#include "walker/base/write_error.h"
#include "walker/cli/output/write_output.h"

namespace mixwalk {

Outcome<std::unique_ptr<GrowingFile>> GrowingFile::open(const std::string& path) {
  // The file is not inherited, because a program that mixwalk starts would keep it open until the program's own end.
  constexpr int kFlags = _O_WRONLY | _O_CREAT | _O_BINARY | _O_NOINHERIT;
  constexpr int kMode = _S_IREAD | _S_IWRITE;
  std::wstring wide = to_utf16(path);
  const DWORD attributes = GetFileAttributesW(wide.c_str());
  if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) {
    return unwritable_output(path, errno_text(EISDIR));
  }
  int file = _wopen(wide.c_str(), kFlags | _O_EXCL, kMode);
  const bool was_there = file == -1 && errno == EEXIST;
  if (was_there) file = _wopen(wide.c_str(), kFlags, kMode);
  if (file == -1) return unwritable_output(path, errno_text());
  return std::unique_ptr<GrowingFile>(new GrowingFile(file, std::move(wide), was_there));
}

GrowingFile::~GrowingFile() {
  _close(file_);
  if (!written_ && !was_there_) DeleteFileW(path_.c_str());
}

bool GrowingFile::write(std::string_view bytes) {
  if (!written_ && was_there_) _chsize_s(file_, 0);  // a device has no size, so this is no failure
  written_ = true;
  constexpr std::size_t kMaxBytesAtOnce = 1 << 20;
  while (!bytes.empty()) {
    expect_full_disk();
    const int wrote = _write(file_, bytes.data(),
                             static_cast<unsigned>(std::min(bytes.size(), kMaxBytesAtOnce)));
    if (wrote <= 0) {
      error_ = write_error();
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

}  // namespace mixwalk
