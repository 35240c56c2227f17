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

Outcome<std::unique_ptr<GrowingFile>> GrowingFile::open(const std::string& name) {
  std::filesystem::path path = path_of(name);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return unwritable_output(name, errno_text(EISDIR));
  errno = 0;
  const OpenedOutput opened = open_output(path);
  if (opened.file == nullptr) return unwritable_output(name, opened.why.empty() ? errno_text() : opened.why);
  return std::unique_ptr<GrowingFile>(new GrowingFile(opened, std::move(path)));
}

GrowingFile::GrowingFile(const OpenedOutput& opened, std::filesystem::path path)
    : file_(opened.file), kind_(opened.kind), path_(std::move(path)) {
  std::setvbuf(file_, nullptr, _IONBF, 0);
  if (kind_ == Kind::created) remove_at_end(file_, path_, true);
}

GrowingFile::~GrowingFile() {
  std::fclose(file_);
  if (written_ || kind_ != Kind::created) return;
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
  remove_at_end(nullptr, path_, false);
}

bool GrowingFile::write(std::string_view bytes) {
  if (!std::exchange(written_, true)) {
    if (kind_ == Kind::existing) empty(file_);
    if (kind_ == Kind::created) remove_at_end(file_, path_, false);
  }
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
