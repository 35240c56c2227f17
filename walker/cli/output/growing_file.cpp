#include "walker/cli/output/growing_file.h"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "walker/base/errno_text.h"
#include "walker/base/partial_file.h"
#include "walker/base/write_error.h"
#include "walker/cli/output/write_output.h"

namespace mixwalk {

using Kind = OpenedOutput::Kind;

namespace {

std::string why_not_opened(const OpenedOutput& opened) { return opened.why.empty() ? errno_text() : opened.why; }

}  // namespace

Outcome<std::unique_ptr<GrowingFile>> GrowingFile::open(const std::string& name) {
  std::filesystem::path path = path_of(name);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return unwritable_output(name, errno_text(EISDIR));
  errno = 0;
  const OpenedOutput opened = open_output(path, false);
  if (opened.file == nullptr) return unwritable_output(name, why_not_opened(opened));
  return std::unique_ptr<GrowingFile>(new GrowingFile(opened, std::move(path)));
}

GrowingFile::GrowingFile(const OpenedOutput& opened, std::filesystem::path path)
    : file_(opened.file), kind_(opened.kind), path_(std::move(path)) {
  if (kind_ != Kind::created) return;
  std::fclose(std::exchange(file_, nullptr));
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

GrowingFile::~GrowingFile() {
  if (file_ != nullptr) std::fclose(file_);
}

// Returns false if the file cannot be opened again, or cannot be emptied.
bool GrowingFile::begin() {
  errno = 0;
  Kind kind = kind_;
  if (file_ == nullptr) {
    const OpenedOutput opened = open_output(path_, false);
    file_ = opened.file;
    kind = opened.kind;  // another program may have made such a file meanwhile
    if (file_ == nullptr) error_ = why_not_opened(opened);
    if (file_ == nullptr) return false;
  }
  std::setvbuf(file_, nullptr, _IONBF, 0);
  if (kind == Kind::existing && !empty(file_)) error_ = write_error();
  return error_.empty();
}

bool GrowingFile::write(std::string_view bytes) {
  if (!std::exchange(written_, true) && !begin()) return false;
  if (file_ == nullptr) return false;
  constexpr std::size_t kMaxBytesAtOnce = 1 << 20;
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, kMaxBytesAtOnce);
    expect_full_disk();
    if (std::fwrite(part.data(), 1, part.size(), file_) != part.size()) {
      error_ = write_error();
      return false;
    }
    bytes.remove_prefix(part.size());
  }
  return true;
}

}  // namespace mixwalk
