#pragma once

#include <cstdio>
#include <filesystem>
#include <string>

#include "walker/base/byte_sink.h"

namespace mixwalk {

// A path from UTF-8, as the command line has it.
std::filesystem::path path_of(const std::string& utf8);

// A file that is written under a temporary name and takes its own only when whole. It is opened at once, so
// that a command learns of a wrong path before it begins its work. What is there and is no file (a pipe, a
// device, a link) is written as it is. Errors are one line without the path.
class PartialFile final : public ByteSink {
 public:
  explicit PartialFile(const std::string& path);
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile() override;  // what was not committed is gone

  // Empty: no call has failed so far.
  const std::string& error() const noexcept { return error_; }
  // There is a file of that name: commit() replaces it.
  bool replaces() const noexcept { return replaces_; }
  bool write(std::string_view bytes) override;
  // Empty: the file is whole and has its name. Else why not. Nothing is written after that.
  std::string commit();

 private:
  std::filesystem::path path_, written_;  // the same for what is no file
  std::FILE* file_ = nullptr;
  bool replaces_ = false;
  std::string error_;
};

}  // namespace mixwalk
