#pragma once

#include <cstdio>
#include <optional>
#include <string>

#include "walker/base/exit_code.h"
#include "walker/base/failure.h"
#include "walker/base/byte_sink.h"

namespace mixwalk {

// Where a command writes: a file, or standard output. The file is opened before the work begins, so
// that nothing is done to a target if the output cannot be written. The file has a temporary name
// until it is whole.
class OutputFile {
 public:
  // No path: standard output.
  static Outcome<OutputFile> open(const std::optional<std::string>& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();  // what was not committed is gone

  std::FILE* file() const noexcept { return file_; }
  bool is_terminal() const;
  // There is a file of that name: commit() replaces it.
  bool replaces() const noexcept { return replaces_; }
  // Why a write failed; empty: none did.
  std::string error() const;
  // Empty: all is there. Else why not.
  std::string commit();

 private:
  OutputFile(std::FILE* file, std::wstring path, std::wstring temporary, bool replaces)
      : file_(file),
        path_(std::move(path)),
        temporary_(std::move(temporary)),
        replaces_(replaces) {}

  std::FILE* file_;
  std::wstring path_;       // empty: standard output
  std::wstring temporary_;
  bool replaces_;
};

}  // namespace mixwalk
