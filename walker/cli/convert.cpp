#include "walker/cli/commands.h"

#include <memory>
#include <optional>
#include <string>

#include "walker/base/partial_file.h"
#include "walker/base/printable.h"
#include "walker/cli/input_file.h"
#include "walker/cli/options/formats.h"
#include "walker/cli/output/otlp_session.h"
#include "walker/cli/output/print_failure.h"
#include "walker/cli/output/write_output.h"
#include "walker/export/dump_format.h"
#include "walker/export/text.h"
#include "walker/shown/recording_filter.h"
#include "walker/store/layout.h"
#include "walker/store/recording_reader.h"

namespace mixwalk {
namespace {

Outcome<ReadRecording> read(const ConvertCommand& command) {
  // The first bytes show whether it is a recording.
  const auto bytes = file_bytes(command.input, [](std::string_view first) { return first.starts_with(layout::kMagic); });
  if (!bytes) return bytes.failure();
  ReadRecording read = read_recording(*bytes);
  if (!read.recording) return unreadable_file(command.input, read.error);
  return read;
}

std::optional<Failure> write(const Recording& original, const ConvertCommand& command) {
  auto exporter = command.format->make();
  if (command.format->id == Format::text && command.filter.all) {
    exporter = std::make_unique<DumpExporter>(
        std::make_unique<TextExporter>(TextExporter::Options{.filter = command.filter}));
  }
  // A .mixwalk file has all frames. In other formats, only recordings of exceptions have frames left out.
  const bool whole = command.format->id == Format::mixwalk || command.filter.all ||
                     original.event != SampleEvent::exception;
  const Recording shown = whole ? Recording() : filtered(original, command.filter);
  Output output(command.output == "-" ? std::nullopt : std::optional(command.output));
  if (auto failure = output.failure()) return failure;
  return output.write([&](ByteSink& sink) { return exporter->write(whole ? original : shown, sink); });
}

// No other format has all data of a recording, so a mistake in the command line must not cost the recording.
bool would_lose_input(const ConvertCommand& command) {
  if (command.output == "-") return false;
  return command.format->id == Format::mixwalk ? would_empty(command.output, command.input)
                                           : would_overwrite(command.output, command.input);
}

std::optional<Failure> write_file(const Recording& recording, const ConvertCommand& command) {
  const RecordingFormat& format = *command.format;
  if (would_lose_input(command)) return unwritable_output(command.output, "that would overwrite the recording that is read");
  if (format.refusal != nullptr) {
    if (const std::string why = format.refusal(recording); !why.empty()) {
      return Failure{ExitCode::input,
                     input_words(command.input) + " cannot be written as " + std::string(format.name) + ": " + why};
    }
  }
  return write(recording, command);
}

ExitCode send(Recording recording, const OtlpTarget& target, const FrameFilter& filter) {
  auto session = OtlpSession::open(target, filter);
  if (!session) return print_failure(session.failure());
  (*session)->offer(std::move(recording));
  return (*session)->finish();
}

// Why --all changes nothing for this recording. Returns nothing if it was not given, or changes something.
std::optional<Failure> useless_all(const ConvertCommand& command, const Recording& recording) {
  const bool is_text = command.format != nullptr && command.format->id == Format::text;
  const bool useful = recording.event == SampleEvent::exception || (recording.event == SampleEvent::dump && is_text);
  if (!command.filter.all || useful) return std::nullopt;
  return Failure{ExitCode::usage, "--all cannot be used with " + input_words(command.input) +
                                      ": it is for recordings of exceptions, and for dumps as text"};
}

}  // namespace

ExitCode run(const ConvertCommand& command) {
  const auto path = command.output == "-" ? std::nullopt : std::optional(command.output);
  if (command.format != nullptr) {
    if (const auto failure = refuse_terminal(*command.format, path)) return print_failure(*failure);
  }
  auto input = read(command);
  if (!input) return print_failure(input.failure());
  const Recording& recording = *input->recording;
  if (const auto failure = useless_all(command, recording)) return print_failure(*failure);
  if (command.format != nullptr) {
    if (const auto failure = write_file(recording, command)) return print_failure(*failure);
  }
  if (const std::string cut = sentence(input->cut); !cut.empty()) {
    print_failure({ExitCode::ok, input_words(command.input) + ": " + cut});
  }
  if (!command.otlp) return ExitCode::ok;
  return send(std::move(*input->recording), *command.otlp, command.filter);
}

}  // namespace mixwalk
