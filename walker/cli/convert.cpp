#include "walker/cli/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "walker/base/partial_file.h"
#include "walker/base/printable.h"
#include "walker/cli/file_kind.h"
#include "walker/cli/input_file.h"
#include "walker/cli/options/formats.h"
#include "walker/cli/output/otlp_session.h"
#include "walker/cli/output/print_failure.h"
#include "walker/cli/output/write_output.h"
#include "walker/hang/standings.h"
#include "walker/model/recording_slice.h"
#include "walker/model/series.h"
#include "walker/shown/recording_filter.h"
#include "walker/store/layout.h"
#include "walker/store/recording_reader.h"

namespace mixwalk {
namespace {

Outcome<ReadRecording> read(const ConvertCommand& command) {
  // The first bytes show whether it is a recording.
  const auto bytes =
      file_bytes(command.input, [](std::string_view first) { return first.starts_with(layout::kMagic); });
  if (!bytes) return bytes.failure();
  if (const std::string why = kind_refusal("convert", file_kind(*bytes)); !why.empty()) {
    return unreadable_file(command.input, why);
  }
  if (!bytes->starts_with(layout::kMagic)) {
    return unreadable_file(command.input, other_file_refusal("convert", *bytes));
  }
  ReadRecording read = read_recording(*bytes);
  if (!read.recording) return unreadable_file(command.input, read.error);
  // A recording that is written again is the same.
  if (command.format == nullptr || command.format->id != Format::mixwalk) complete_standings(*read.recording);
  return read;
}

// Why a file that was cut off cannot be used: nothing of it is left, or the rest would be replaced.
std::optional<Failure> cut_too_short(const ReadRecording& input, const ConvertCommand& command) {
  const std::string cut = sentence(input.cut);
  if (cut.empty()) return std::nullopt;
  if (input.recording->event == SampleEvent::dump && input.recording->samples.empty()) {
    return unreadable_file(command.input, cut + "; no thread is left: make the dump again");
  }
  return command.output == "-" ? std::nullopt : would_replace_cut(command.output, command.input);
}

// Leaves only the part that the command asks for.
std::optional<Failure> keep_times(Recording& recording, const ConvertCommand& command) {
  if (!command.from_ms && !command.to_ms) return std::nullopt;
  if (recording.event == SampleEvent::dump) {
    return Failure{ExitCode::usage,
                   input_words(command.input) + " is a dump: --from and --to take a part of a recording"};
  }
  constexpr std::uint64_t kNsOfMs = 1'000'000;
  const std::vector<Recording::Sample>& all = recording.samples;
  const std::uint64_t last =
      std::max(recording.duration_ns, all.empty() ? 0 : all.back().time_ns + 1);
  const std::uint64_t from = command.from_ms.value_or(0) * kNsOfMs;
  const std::uint64_t to = command.to_ms ? std::min(*command.to_ms * kNsOfMs, last) : last;
  if (from >= last) {
    return Failure{ExitCode::usage,
                   fmt::format("{} is {:.1f} s long: nothing of it is after --from",
                               input_words(command.input), static_cast<double>(last) / 1e9)};
  }
  const auto begin = std::ranges::lower_bound(all, from, {}, &Recording::Sample::time_ns);
  const auto end = std::ranges::lower_bound(begin, all.end(), to, {}, &Recording::Sample::time_ns);
  recording = recording_slice(recording, std::vector<Recording::Sample>(begin, end), from, to);
  return std::nullopt;
}

// `note`: about the file, for a format that has room for it; may be empty.
std::optional<Failure> write(const Recording& original, const ConvertCommand& command, const std::string& note) {
  const RecordingFormat& format = *command.format;
  const ShowOptions options{.filter = command.filter, .note = note};
  // A .mixwalk file has all frames. In other formats, only recordings of exceptions have frames left out.
  const bool whole = format.id == Format::mixwalk || command.filter.all ||
                     original.event != SampleEvent::exception;
  const Recording shown = whole ? Recording() : filtered(original, command.filter);
  Output output(command.output == "-" ? std::nullopt : std::optional(command.output));
  if (auto failure = output.failure()) return failure;
  if (original.event == SampleEvent::dump && format.write_dumps != nullptr) {
    const std::vector<Snapshot> dumps = to_series(original);
    return output.write([&](ByteSink& sink) { return format.write_dumps(dumps, options, sink); });
  }
  return write_recording(output, format, options, whole ? original : shown);
}

// No other format has all data of a recording, so a mistake in the command line must not cost the recording.
bool would_lose_input(const ConvertCommand& command) {
  if (command.output == "-") return false;
  const bool whole = command.format->id == Format::mixwalk && !command.from_ms && !command.to_ms;
  return whole ? would_empty(command.output, command.input) : would_overwrite(command.output, command.input);
}

std::optional<Failure> write_file(const Recording& recording, const ConvertCommand& command, const std::string& note) {
  const RecordingFormat& format = *command.format;
  if (would_lose_input(command))
    return unwritable_output(command.output, "that would overwrite the recording that is read");
  if (format.refusal != nullptr) {
    if (const std::string why = format.refusal(recording); !why.empty()) {
      return Failure{ExitCode::input,
                     input_words(command.input) + " cannot be written as " + std::string(format.name) + ": " + why};
    }
  }
  return write(recording, command, note);
}

ExitCode send(Recording recording, const OtlpTarget& target, const FrameFilter& filter) {
  auto session = OtlpSession::open(target, filter);
  if (!session) return print_failure(session.failure());
  (*session)->offer(std::move(recording));
  return (*session)->finish();
}

// Why --all changes nothing for this recording. Returns nothing if it was not given, or changes something.
std::optional<Failure> useless_all(const ConvertCommand& command, const Recording& recording) {
  const auto is = [&](Format format) { return command.format != nullptr && command.format->id == format; };
  const bool useful = recording.event == SampleEvent::exception || is(Format::html) ||
                      (recording.event == SampleEvent::dump && is(Format::text));
  if (!command.filter.all || useful) return std::nullopt;
  return Failure{ExitCode::usage, "--all cannot be used with " + input_words(command.input) +
                                      ": it is for recordings of exceptions, for pages, and for dumps as text"};
}

}  // namespace

ExitCode run(const ConvertCommand& command) {
  const auto path = command.output == "-" ? std::nullopt : std::optional(command.output);
  if (command.format != nullptr) {
    if (const auto failure = refuse_terminal(*command.format, path)) return print_failure(*failure);
  }
  auto input = read(command);
  if (!input) return print_failure(input.failure());
  if (const auto failure = cut_too_short(*input, command)) return print_failure(*failure);
  if (const auto failure = keep_times(*input->recording, command)) return print_failure(*failure);
  const Recording& recording = *input->recording;
  if (const auto failure = useless_all(command, recording)) return print_failure(*failure);
  const std::string cut = sentence(input->cut);
  const std::string note = cut.empty() ? "" : input_words(command.input) + ": " + cut;
  if (command.format != nullptr) {
    if (const auto failure = write_file(recording, command, note)) return print_failure(*failure);
  }
  if (!note.empty()) print_failure({ExitCode::ok, note});
  if (!command.otlp) return ExitCode::ok;
  return send(std::move(*input->recording), *command.otlp, command.filter);
}

}  // namespace mixwalk
