#include "walker/base/partial_file.h"

#include <cerrno>
#include <system_error>

#include "walker/base/errno_text.h"

namespace mixwalk {

namespace fs = std::filesystem;

fs::path path_of(const std::string& utf8) {
  return fs::path(std::u8string(utf8.begin(), utf8.end()));
}

PartialFile::PartialFile(const std::string& path) : path_(path_of(path)), written_(path_) {
  std::error_code ignored;
  const fs::file_type type = fs::symlink_status(path_, ignored).type();
  if (fs::is_directory(path_, ignored)) {
    error_ = errno_text(EISDIR);
    return;
  }
  // A link is written through: to take its name would cut it from where it leads.
  if (type == fs::file_type::not_found || type == fs::file_type::regular) written_ += ".partial";
  errno = 0;
  out_.open(written_, std::ios::binary | std::ios::trunc);
  if (!out_) error_ = errno_text();
}

PartialFile::~PartialFile() {
  if (!out_.is_open()) return;
  out_.close();
  std::error_code ignored;
  if (written_ != path_) fs::remove(written_, ignored);
}

bool PartialFile::write(std::string_view bytes) {
  if (!error_.empty()) return false;
  errno = 0;
  if (!out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()))) error_ = errno_text();
  return error_.empty();
}

std::string PartialFile::commit() {
  if (!error_.empty()) return error_;
  errno = 0;
  out_.flush();
  if (!out_) return errno_text();
  out_.close();
  if (written_ == path_) return {};
  std::error_code error;
  fs::rename(written_, path_, error);
  if (!error) return {};
  std::error_code ignored;
  fs::remove(written_, ignored);
  return error.message();
}

}  // namespace mixwalk
