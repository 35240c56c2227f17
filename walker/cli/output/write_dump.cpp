#include "walker/cli/output/write_dump.h"

#include "walker/export/json.h"
#include "walker/export/text.h"
#include "walker/hang/standings.h"
#include "walker/model/recording_builder.h"
#include "walker/report/html_exporter.h"
#include "walker/shown/recording_filter.h"

namespace mixwalk {
namespace {

Recording shown(Recording recording, const DumpOutput& how) {
  mark_standings(recording);  // by all frames
  return filtered(std::move(recording), how.filter);
}

bool write(const Snapshot& snapshot, const DumpOutput& how, bool colour, CallChecker& calls, ByteSink& sink) {
  // These formats show more of a snapshot than a recording keeps.
  if (how.format->id == Format::json) return JsonExporter(how.filter).write(snapshot, sink);
  if (how.format->id == Format::html) return HtmlExporter(how.filter).write(snapshot, sink);
  if (how.format->id == Format::text) {
    TextExporter::Options options{colour, how.filter, {}};
    if (how.calls) {
      options.call_text = [&calls](const Frame& frame) {
        return calls.call_text(static_cast<std::size_t>(frame.module), frame.address);
      };
    }
    return TextExporter(options).write(snapshot, sink);
  }
  return how.format->make()->write(shown(to_recording(snapshot), how), sink);
}

}  // namespace

std::optional<Failure> write_dump(const Snapshot& snapshot, const DumpOutput& how, bool colour, Output& output,
                                  CallChecker& calls) {
  return output.write([&](ByteSink& sink) { return write(snapshot, how, colour, calls, sink); });
}

}  // namespace mixwalk
