#include "walker/cli/write_dump.h"

#include <cerrno>
#include <cstdio>

#include "walker/base/errno_text.h"
#include "walker/export/json.h"
#include "walker/export/recording_filter.h"
#include "walker/export/text.h"
#include "walker/model/recording_builder.h"

namespace mixwalk {
namespace {

bool write(const Snapshot& snapshot, const DumpOutput& output, bool colour, CallChecker& calls, ByteSink& sink) {
  // These two show more of a snapshot than a recording keeps.
  if (output.format->name == "json") return JsonExporter(output.filter).write(snapshot, sink);
  if (output.format->name == "text") {
    TextExporter::Options options{colour, output.filter, {}};
    if (output.calls) {
      options.call_text = [&calls](const Frame& frame) {
        return calls.call_text(static_cast<std::size_t>(frame.module), frame.address);
      };
    }
    return TextExporter(options).write(snapshot, sink);
  }
  return output.format->make()->write(filtered(to_recording(snapshot), output.filter), sink);
}

// Empty: written. Else why not.
std::string write_to(PartialFile* file, const Snapshot& snapshot, const DumpOutput& output, bool colour,
                     CallChecker& calls) {
  constexpr char kNoRoom[] = "the format has no room for the dump";
  if (file != nullptr) {
    if (write(snapshot, output, colour, calls, *file)) return file->commit();
    return file->error().empty() ? kNoRoom : file->error();
  }
  FileSink sink(stdout);
  errno = 0;
  const bool written = write(snapshot, output, colour, calls, sink);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return errno_text(errno == 0 ? ENOSPC : errno);
  }
  return written ? "" : kNoRoom;
}

}  // namespace

Failure unwritable(const DumpOutput& output, const std::string& why) {
  const std::string where = output.output ? "\"" + *output.output + "\"" : "to standard output";
  return {ExitCode::output, "cannot write " + where + ": " + why};
}

std::optional<Failure> write_dump(const Snapshot& snapshot, const DumpOutput& output, bool colour, PartialFile* file,
                                  CallChecker& calls) {
  const std::string why = write_to(file, snapshot, output, colour, calls);
  if (why.empty()) return std::nullopt;
  return unwritable(output, why);
}

}  // namespace mixwalk
