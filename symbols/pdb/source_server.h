#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mixwalk {

// The addresses on the web from which source files can be read: stream "srcsrv" of a PDB. The stream has variables, and
// for each source file a line with the file's own values. The variable SRCSRVTRG then says where the file is. mixwalk
// runs no command: a file counts only if its target is a URL and no command must be run for it. Pure; not frozen-safe.
// (https://learn.microsoft.com/windows-hardware/drivers/debugger/language-specification-1)
class SourceServer {
 public:
  SourceServer() = default;
  // The text is the stream's; it must outlive this object. Lines that cannot be read are left out.
  explicit SourceServer(std::string_view text);

  // Returns the URL of a source file, whose path is as the symbols have it; empty if there is none.
  std::string url_of(std::string_view path) const;
  std::size_t bytes() const noexcept { return files_.capacity() * sizeof(std::string_view); }  // without the text

 private:
  static constexpr std::size_t kValues = 10;  // var1 to var10
  struct Expansion;

  // Variables' names are in lower case.
  std::map<std::string, std::string_view, std::less<>> variables_;
  std::vector<std::string_view> files_;  // the lines of source files, sorted by their paths
};

}  // namespace mixwalk
