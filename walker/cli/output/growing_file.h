#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "walker/base/byte_sink.h"
#include "walker/base/failure.h"
#include "walker/base/output_path.h"

namespace mixwalk {

// A file that is readable at any moment while it grows, because written bytes are in the file at once. It is opened
// before the work begins. An existing file keeps its content until the first bytes are written. A new file is removed
// again until then, so that none is left if this process is ended.
class GrowingFile final : public ByteSink {
 public:
  static Outcome<std::unique_ptr<GrowingFile>> open(const std::string& path);
  ~GrowingFile() override;
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  // Whether there was such a file, which the first write replaces.
  bool replaces() const noexcept { return kind_ == OpenedOutput::Kind::existing; }
  bool write(std::string_view bytes) override;
  // The reason why a write failed; empty if none failed.
  const std::string& error() const noexcept { return error_; }

 private:
  GrowingFile(const OpenedOutput& opened, std::filesystem::path path);
  bool begin();

  std::FILE* file_;  // without a buffer; null for a new file that has no bytes yet
  OpenedOutput::Kind kind_;
  std::filesystem::path path_;
  bool written_ = false;
  std::string error_;
};

}  // namespace mixwalk
