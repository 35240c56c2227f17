#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "walker/base/byte_sink.h"

namespace mixwalk {

// A path from UTF-8, as the command line has it.
std::filesystem::path path_of(const std::string& utf8);

// A file that is written under a temporary name and takes its own only when whole. What is there
// and is no file (a pipe, a device) is written as it is. Errors are one line without the path.
class PartialFile final : public ByteSink {
 public:
  explicit PartialFile(const std::string& path);
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile() override;  // what was not committed is gone

  const std::string& error() const noexcept { return error_; }  // empty: none so far
  bool write(std::string_view bytes) override;
  // Empty: all is there. Else why not.
  std::string commit();

 private:
  std::filesystem::path path_, written_;  // the same for what is no file
  std::ofstream out_;
  std::string error_;
};

}  // namespace mixwalk
