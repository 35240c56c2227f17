#include "walker/base/partial_file.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include "walker/base/errno_text.h"
#include "walker/base/output_path.h"
#include "walker/base/printable.h"
#include "walker/base/write_error.h"

namespace mixwalk {

namespace fs = std::filesystem;

namespace {

// The path that a PartialFile of that path opens.
fs::path opened_path(fs::path path) {
  // Replacing a link would disconnect it from its target.
  if (!is_written_through(path)) path += ".partial";
  return path;
}

bool leads_to_file(const fs::path& path, const fs::path& input) {
  std::error_code error;  // set if the file does not exist
  return fs::is_regular_file(input, error) && is_same_file(path, input);
}

}  // namespace

std::string utf8_of(const fs::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

fs::path path_of(const std::string& utf8) {
  return fs::path(std::u8string(utf8.begin(), utf8.end()));
}

PartialFile::PartialFile(const std::string& path) : path_(path_of(path)), written_(path_) {
  std::error_code ignored;
  if (fs::is_directory(path_, ignored)) {
    error_ = errno_text(EISDIR);
    return;
  }
  written_ = opened_path(path_);
  replaces_ = written_ != path_ && fs::exists(path_, ignored);
  errno = 0;
  OpenedOutput opened = open_output(written_, written_ != path_);
  file_ = opened.file;
  kind_ = opened.kind;
  error_ = std::move(opened.why);
  if (file_ == nullptr && error_.empty()) error_ = errno_text();
  const fs::path folder = path_.parent_path();
  if (file_ == nullptr && !folder.empty() && !fs::exists(folder, ignored)) {
    error_ = "there is no folder " + quoted_path(utf8_of(folder));
  }
  ours_ = file_ != nullptr && written_ != path_;
  if (ours_) remove_at_end(file_, written_, true);
}

PartialFile::~PartialFile() {
  if (file_ != nullptr) std::fclose(file_);
  if (!ours_) return;
  std::error_code ignored;
  fs::remove(written_, ignored);
  remove_at_end(nullptr, written_, false);
}

const std::string& PartialFile::begin() {
  if (file_ == nullptr || std::exchange(begun_, true)) return error_;
  errno = 0;
  if (kind_ == OpenedOutput::Kind::existing && !empty(file_)) error_ = write_error();
  return error_;
}

bool PartialFile::write(std::string_view bytes) {
  begin();
  if (!error_.empty() || file_ == nullptr) return false;
  expect_full_disk();
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) error_ = write_error();
  return error_.empty();
}

std::string PartialFile::close() {
  begin();
  if (file_ == nullptr) return error_;
  expect_full_disk();
  if (std::fflush(file_) != 0 && error_.empty()) error_ = write_error();
  if (ours_ && error_.empty()) remove_at_end(file_, written_, false);
  expect_full_disk();
  if (std::fclose(std::exchange(file_, nullptr)) != 0 && error_.empty()) error_ = write_error();
  return error_;
}

std::string PartialFile::commit() {
  close();
  if (!error_.empty() || !std::exchange(ours_, false)) return error_;
  std::error_code error;
  fs::rename(written_, path_, error);
  if (error) {
    // Whoever holds the file that was to be replaced may let it go, and what was written may not come again.
    error_ = error.message() + "; what was written is in " + quoted_path(utf8_of(written_));
  }
  return error_;
}

bool would_empty(const std::string& path, const std::string& input) {
  return leads_to_file(opened_path(path_of(path)), path_of(input));
}

bool would_overwrite(const std::string& path, const std::string& input) {
  return leads_to_file(path_of(path), path_of(input)) || would_empty(path, input);
}

}  // namespace mixwalk
