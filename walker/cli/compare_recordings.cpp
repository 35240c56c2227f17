#include "walker/cli/compare_recordings.h"

#include <array>
#include <utility>

#include "walker/base/printable.h"
#include "walker/cli/input_file.h"
#include "walker/cli/output/print_failure.h"
#include "walker/export/difference_text.h"
#include "walker/report/html.h"
#include "walker/shown/recording_difference.h"
#include "walker/shown/recording_filter.h"

namespace mixwalk {
namespace {

// The recording in the form in which convert shows it: without the runtime's own frames of a throw, unless all frames
// are asked for.
Recording shown(Recording recording, bool all) {
  if (all || recording.event != SampleEvent::exception) return recording;
  return filtered(std::move(recording), {});
}

}  // namespace

ExitCode compare_recordings(const HangCommand& command, bool colour, NamedRecording first, NamedRecording second,
                            const std::string& note, Output& output) {
  if (command.across) {
    return print_failure(
        {ExitCode::usage, "--across cannot be used with recordings: " + input_words(first.file) + " is one"});
  }
  if (command.format == Format::json) {
    return print_failure({ExitCode::input, "a comparison of two recordings is written as text or HTML, not as JSON"});
  }
  const std::array<std::string, 2> files = {std::move(first.file), std::move(second.file)};
  const Recording before = shown(std::move(first.recording), command.all);
  const Recording after = shown(std::move(second.recording), command.all);
  if (const std::string why = difference_refusal(before, after); !why.empty()) {
    return print_failure(
        {ExitCode::input, quoted_path(files[0]) + " and " + quoted_path(files[1]) + " cannot be compared: " + why});
  }
  if (command.quiet) return ExitCode::ok;
  const auto failure = output.write([&](ByteSink& sink) {
    if (command.format == Format::html) {
      const bool fold = !command.all;
      return write_html_difference(ShownRecording(before, fold), ShownRecording(after, fold), files, note, sink);
    }
    return write_difference_text(before, after, files, {.colour = colour, .all = command.all}, sink);
  });
  return failure ? print_failure(*failure) : ExitCode::ok;
}

}  // namespace mixwalk
