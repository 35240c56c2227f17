#include "walker/cli/output/write_dump.h"

#include "walker/hang/standings.h"
#include "walker/model/series.h"
#include "walker/shown/recording_filter.h"

namespace mixwalk {
namespace {

Recording shown(Recording recording, const DumpOutput& how) {
  mark_standings(recording);  // by all frames
  return filtered(std::move(recording), how.filter);
}

bool write(const Snapshot& snapshot, const DumpOutput& how, bool colour, CallChecker& calls, ByteSink& sink) {
  ShowOptions options{.filter = how.filter, .colour = colour};
  if (how.calls) {
    options.call_text = [&calls](const Frame& frame) {
      return calls.call_text(static_cast<std::size_t>(frame.module), frame.address);
    };
  }
  if (how.format->write_dumps != nullptr) return how.format->write_dumps({&snapshot, 1}, options, sink);
  return how.format->write(shown(to_recording(snapshot), how), options, sink);
}

}  // namespace

std::optional<Failure> write_dump(const Snapshot& snapshot, const DumpOutput& how, bool colour, Output& output,
                                  CallChecker& calls) {
  return output.write([&](ByteSink& sink) { return write(snapshot, how, colour, calls, sink); });
}

}  // namespace mixwalk
