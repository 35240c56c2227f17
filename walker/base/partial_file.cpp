#include "walker/base/partial_file.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include "walker/base/errno_text.h"
#include "walker/base/output_path.h"

namespace mixwalk {

namespace fs = std::filesystem;

namespace {

// The C library of Windows gives no reason where the disk is full.
std::string write_error() { return errno_text(errno == 0 ? ENOSPC : errno); }

}  // namespace

fs::path path_of(const std::string& utf8) {
  return fs::path(std::u8string(utf8.begin(), utf8.end()));
}

PartialFile::PartialFile(const std::string& path) : path_(path_of(path)), written_(path_) {
  std::error_code ignored;
  if (fs::is_directory(path_, ignored)) {
    error_ = errno_text(EISDIR);
    return;
  }
  // To take a link's name would cut it from where it leads.
  if (!is_written_through(path_)) {
    replaces_ = fs::exists(path_, ignored);
    written_ += ".partial";
  }
  errno = 0;
  file_ = open_for_writing(written_);
  if (file_ == nullptr) error_ = errno_text();
  ours_ = file_ != nullptr && written_ != path_;
}

PartialFile::~PartialFile() {
  if (file_ != nullptr) std::fclose(file_);
  std::error_code ignored;
  if (ours_) fs::remove(written_, ignored);
}

bool PartialFile::write(std::string_view bytes) {
  if (!error_.empty() || file_ == nullptr) return false;
  errno = 0;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) error_ = write_error();
  return error_.empty();
}

std::string PartialFile::close() {
  if (file_ == nullptr) return error_;
  errno = 0;
  if (std::fclose(std::exchange(file_, nullptr)) != 0 && error_.empty()) error_ = write_error();
  return error_;
}

std::string PartialFile::commit() {
  close();
  if (!std::exchange(ours_, false)) return error_;
  std::error_code error;
  if (error_.empty()) {
    fs::rename(written_, path_, error);
    if (error) error_ = error.message();
  }
  if (!error_.empty()) fs::remove(written_, error);
  return error_;
}

}  // namespace mixwalk
