#include "walker/cli/output/write_dump.h"

#include "walker/cli/output/write_output.h"
#include "walker/export/json.h"
#include "walker/export/text.h"
#include "walker/model/recording_builder.h"
#include "walker/model/series.h"
#include "walker/report/html_exporter.h"
#include "walker/shown/recording_filter.h"

namespace mixwalk {
namespace {

bool write(const Snapshot& snapshot, const DumpOutput& output, bool colour, CallChecker& calls, ByteSink& sink) {
  // These formats show more of a snapshot than a recording keeps.
  if (output.format->id == Format::json) return JsonExporter(output.filter).write(snapshot, sink);
  if (output.format->id == Format::html) return HtmlExporter(output.filter).write(snapshot, sink);
  if (output.format->id == Format::text) {
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

}  // namespace

std::optional<Failure> write_dump(const Snapshot& snapshot, const DumpOutput& output, bool colour, PartialFile* file,
                                  CallChecker& calls) {
  const std::string why =
      write_output(file, [&](ByteSink& sink) { return write(snapshot, output, colour, calls, sink); });
  if (why.empty()) return std::nullopt;
  return unwritable_output(output.output, why);
}

std::optional<Failure> write_series(const std::vector<Snapshot>& dumps, const DumpOutput& output, PartialFile* file) {
  const std::string why = write_output(file, [&](ByteSink& sink) {
    return output.format->make()->write(filtered(to_recording(dumps), output.filter), sink);
  });
  if (why.empty()) return std::nullopt;
  return unwritable_output(output.output, why);
}

}  // namespace mixwalk
