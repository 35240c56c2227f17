#include "walker/cli/output/write_output.h"

#include <cstdio>

#include "walker/base/printable.h"
#include "walker/base/write_error.h"
#include "walker/cli/output/print_failure.h"

namespace mixwalk {

Failure unwritable_output(const std::optional<std::string>& path, std::string_view why) {
  const std::string where = path ? quoted_path(*path) : "to standard output";
  return {ExitCode::output, "cannot write " + where + ": " + std::string(why)};
}

std::string write_output(PartialFile* file, const std::function<bool(ByteSink&)>& write) {
  constexpr char kNoRoom[] = "the output is too large for this format";
  if (file != nullptr) {
    if (write(*file)) return file->commit();
    return file->error().empty() ? kNoRoom : file->error();
  }
  FileSink sink(stdout);
  const bool written = write(sink);
  if (std::ferror(stdout) != 0) return write_error();
  expect_full_disk();
  if (std::fflush(stdout) != 0) return write_error();
  return written ? "" : kNoRoom;
}

ExitCode print(std::string_view text) {
  const std::string why = write_output(nullptr, [&](ByteSink& sink) { return sink.write(text); });
  return why.empty() ? ExitCode::ok : print_failure(unwritable_output(std::nullopt, why));
}

}  // namespace mixwalk
