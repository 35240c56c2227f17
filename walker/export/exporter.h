#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "walker/model/snapshot.h"

namespace mixwalk {

// Where an export goes.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  // False: not all of it could be written (a full disk, a closed pipe); nothing more will be.
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
  bool write(std::string_view bytes) override {
    return std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size();
  }

 private:
  std::FILE* file_;
};

// What every format leaves out when it is told to.
struct FrameFilter {
  bool managed_only = false;
  std::optional<std::uint32_t> depth;  // the first so many of what is left, leaf first
  bool all = false;  // also how the runtime throws (throw_machinery.h), of recorded exceptions
};

// One output format. Deterministic: the same snapshot gives the same bytes.
class Exporter {
 public:
  virtual ~Exporter() = default;
  // False: the sink refused.
  virtual bool write(const Snapshot& snapshot, ByteSink& sink) const = 0;
};

}  // namespace mixwalk
