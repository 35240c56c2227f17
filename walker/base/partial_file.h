#pragma once

#include <cstdio>
#include <filesystem>
#include <string>

#include "walker/base/byte_sink.h"

namespace mixwalk {

// A path from UTF-8, as the command line has it.
std::filesystem::path path_of(const std::string& utf8);

// A file that is written under a temporary name and gets its final name only when it is complete. The file is opened at
// once, so that a command learns of a wrong path before it begins its work. Where the path leads to something other
// than a file (a pipe, a device, a link), that is written directly. Errors are one line without the path.
class PartialFile final : public ByteSink {
 public:
  explicit PartialFile(const std::string& path);
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile() override;  // what was not committed is gone

  // Returns an empty text if no call has failed so far.
  const std::string& error() const noexcept { return error_; }
  // There is a file of that name: commit() replaces it.
  bool replaces() const noexcept { return replaces_; }
  bool write(std::string_view bytes) override;
  // For a library that writes by itself; null if the file is closed, or there was an error. Nothing is buffered in it
  // yet.
  std::FILE* stream() const noexcept { return file_; }
  // Closes the file, which keeps its temporary name until commit(). After that, `written()` may be read. Empty, or why
  // the file is not complete.
  std::string close();
  const std::filesystem::path& written() const noexcept { return written_; }
  // Returns an empty text if the file is complete and has its final name, otherwise the reason why not. Nothing may be
  // written after that.
  std::string commit();

 private:
  std::filesystem::path path_, written_;  // the same for what is no file
  std::FILE* file_ = nullptr;
  bool replaces_ = false;
  bool ours_ = false;  // there is a file under the temporary name
  std::string error_;
};

// Whether a PartialFile of that path would empty the file `input` as it opens: the path is a link to it, or `input` has
// the temporary name. A command that still reads `input` then would lose it.
bool would_empty(const std::string& path, const std::string& input);
// Whether the path leads to the file `input`, by whatever name, or would empty it.
bool would_overwrite(const std::string& path, const std::string& input);

}  // namespace mixwalk
