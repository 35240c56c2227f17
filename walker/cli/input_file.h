#pragma once

#include <cstddef>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

#include "walker/base/failure.h"

namespace mixwalk {

// The path that means standard input wherever a file is read.
inline constexpr std::string_view kStandardInput = "-";
// The file in a message: its path in quotes, or "standard input".
std::string input_words(const std::string& path);
// The failure ExitCode::input: "cannot read "orders.mixwalk": …".
Failure unreadable_file(const std::string& path, std::string_view why);

// A file that is read from its beginning to its end, or standard input.
class InputFile {
 public:
  // To be called once, before everything else. Returns an empty text, or the reason why the file cannot be read.
  std::string open(const std::string& path);
  std::istream& stream() noexcept { return *in_; }
  void close() { file_.close(); }

 private:
  std::ifstream file_;
  std::istream* in_ = &file_;
};

// The bytes of a file, or of a pipe. If `wanted` returns false for the first bytes (1 MiB, or all of a smaller input),
// the rest is not read. An input larger than kMaxInputBytes is a failure.
Outcome<std::string> file_bytes(const std::string& path, const std::function<bool(std::string_view)>& wanted);

inline constexpr std::size_t kMaxInputBytes = std::size_t{2} << 30;

}  // namespace mixwalk
