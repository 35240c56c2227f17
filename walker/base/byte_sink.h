#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "walker/base/write_error.h"

namespace mixwalk {

// A destination of bytes: of a recording, or of an export.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  // Returns false if not all of the bytes could be written (a full disk, a closed pipe). No later write will succeed
  // either.
  virtual bool write(std::string_view bytes) = 0;
};

class StringSink final : public ByteSink {
 public:
  bool write(std::string_view bytes) override {
    text.append(bytes);
    return true;
  }
  std::string text;
};

// A C stream, not owned.
class FileSink final : public ByteSink {
 public:
  explicit FileSink(std::FILE* file) : file_(file) {}
  // If a write fails, write_error() says why.
  bool write(std::string_view bytes) override {
    expect_full_disk();
    return std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size();
  }

 private:
  std::FILE* file_;
};

}  // namespace mixwalk
