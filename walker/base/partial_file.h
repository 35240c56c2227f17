#pragma once

#include <cstdio>
#include <filesystem>
#include <string>

#include "walker/base/byte_sink.h"
#include "walker/base/output_path.h"

namespace mixwalk {

// A path from UTF-8 text, as the command line has it, and back.
std::filesystem::path path_of(const std::string& utf8);
std::string utf8_of(const std::filesystem::path& path);

// A file that is written under a temporary name and gets its final name only when it is complete. The file is opened at
// once, so that a command learns of a wrong path before it begins its work; if the process is ended, the file is
// removed (remove_at_end). If the path leads to something other than a file (a pipe, a device, a link), that target is
// written directly, from the first bytes on. Errors are one line without the path.
class PartialFile final : public ByteSink {
 public:
  explicit PartialFile(const std::string& path);
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile() override;  // deletes the file if it was not committed

  // The first error; empty if no call has failed so far.
  const std::string& error() const noexcept { return error_; }
  // Whether there is a file of that name, which commit() replaces.
  bool replaces() const noexcept { return replaces_; }
  bool write(std::string_view bytes) override;
  // To be called before a library writes to stream() by itself: removes the content of a target that is written
  // directly. Returns error().
  const std::string& begin();
  // The stream. Nothing is buffered in it yet. Returns null if the file is closed, or could not be opened.
  std::FILE* stream() const noexcept { return file_; }
  // Closes the file, which keeps its temporary name until commit(). After that, `written()` may be read. Returns an
  // empty text, or the reason why the file is not complete.
  std::string close();
  const std::filesystem::path& written() const noexcept { return written_; }
  // Closes the file and gives it its final name. Returns an empty text if that succeeded, otherwise the reason why not.
  // Nothing may be written afterwards.
  std::string commit();

 private:
  std::filesystem::path path_, written_;  // both are the same if the target is not a file
  std::FILE* file_ = nullptr;
  OpenedOutput::Kind kind_ = OpenedOutput::Kind::stream;
  bool begun_ = false;  // whether something may be written
  bool replaces_ = false;
  bool ours_ = false;  // whether there is a file under the temporary name
  std::string error_;
};

// Whether a PartialFile of that path would empty the file `input` when it opens, because the path is a link to it, or
// `input` has the temporary name. A command that still reads `input` would lose its content.
bool would_empty(const std::string& path, const std::string& input);
// Whether the path leads to the file `input`, by whatever name, or would empty it.
bool would_overwrite(const std::string& path, const std::string& input);

}  // namespace mixwalk
