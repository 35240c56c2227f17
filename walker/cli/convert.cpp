#include "walker/cli/convert.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "walker/base/errno_text.h"
#include "walker/base/partial_file.h"
#include "walker/base/printable.h"
#include "walker/cli/otlp_session.h"
#include "walker/cli/report.h"
#include "walker/export/dump_format.h"
#include "walker/export/formats.h"
#include "walker/export/recording_filter.h"
#include "walker/export/text.h"
#include "walker/store/layout.h"
#include "walker/store/recording_reader.h"

namespace mixwalk {
namespace {

// The recording is read whole; it may have more samples than the format allows.
constexpr std::size_t kMaxFileBytes = std::size_t{2} << 30;
constexpr std::size_t kReadBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxShownPath = 1000;

std::string quoted(const std::string& path) { return "\"" + printable(path, kMaxShownPath) + "\""; }

Failure unreadable(const ConvertCommand& command, const std::string& why) {
  return {ExitCode::input, "cannot read " + quoted(command.input) + ": " + why};
}

// Not the size first and then so many bytes: what is read may be a pipe, or may still grow.
Outcome<std::string> file_bytes(const ConvertCommand& command) {
  const std::filesystem::path path = path_of(command.input);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return unreadable(command, errno_text(EISDIR));
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return unreadable(command, errno_text());
  std::string bytes;
  while (in) {
    const std::size_t had = bytes.size();
    if (had >= kMaxFileBytes) return unreadable(command, "it is larger than 2 GiB");
    bytes.resize(had + kReadBytes);
    in.read(bytes.data() + had, kReadBytes);
    bytes.resize(had + static_cast<std::size_t>(in.gcount()));
    if (had == 0 && !bytes.starts_with(layout::kMagic)) break;  // whatever else it may be
  }
  if (in.bad()) return unreadable(command, errno_text());
  return bytes;
}

Outcome<ReadRecording> read(const ConvertCommand& command) {
  const auto bytes = file_bytes(command);
  if (!bytes) return bytes.failure();
  ReadRecording read = read_recording(*bytes);
  if (!read.recording) return unreadable(command, read.error);
  return read;
}

// Empty: written. Else why not.
std::string write(const Recording& original, const ConvertCommand& command) {
  auto exporter = command.format->make();
  if (command.format->name == "text" && command.filter.all) {
    exporter = std::make_unique<DumpExporter>(
        std::make_unique<TextExporter>(TextExporter::Options{.filter = command.filter}));
  }
  // A .mixwalk file has all frames, and only exceptions have some that are left out.
  const bool whole = command.format->name == "mixwalk" || command.filter.all ||
                     original.event != SampleEvent::exception;
  const Recording shown = whole ? Recording() : filtered(original, command.filter);
  const Recording& recording = whole ? original : shown;
  if (command.output == "-") {
    FileSink sink(stdout);
    errno = 0;
    if (exporter->write(recording, sink) && std::fflush(stdout) == 0) return {};
    return "to standard output: " + errno_text();
  }
  PartialFile file(command.output);
  const bool written = file.error().empty() && exporter->write(recording, file);
  const std::string error = written ? file.commit() : file.error();
  if (written && error.empty()) return {};
  return quoted(command.output) + ": " +
         (error.empty() ? "the format has no room for the recording" : error);
}

std::optional<Failure> write_file(const Recording& recording, const ConvertCommand& command) {
  const RecordingFormat& format = *command.format;
  if (format.refusal != nullptr) {
    if (const std::string why = format.refusal(recording); !why.empty()) {
      return Failure{ExitCode::input, quoted(command.input) + " cannot be written as " +
                                          std::string(format.name) + ": " + why};
    }
  }
  if (const std::string why = write(recording, command); !why.empty()) {
    return Failure{ExitCode::output, "cannot write " + why};
  }
  return std::nullopt;
}

ExitCode send(Recording recording, const OtlpTarget& target, const FrameFilter& filter) {
  auto session = OtlpSession::open(target, filter);
  if (!session) return report(session.failure());
  (*session)->offer(std::move(recording));
  return (*session)->finish();
}

}  // namespace

ExitCode run(const ConvertCommand& command) {
  auto input = read(command);
  if (!input) return report(input.failure());
  const Recording& recording = *input->recording;
  if (command.format != nullptr) {
    if (const auto failure = write_file(recording, command)) return report(*failure);
  }
  if (const std::string cut = sentence(input->cut); !cut.empty()) {
    report({ExitCode::ok, quoted(command.input) + ": " + cut});
  }
  if (!command.otlp) return ExitCode::ok;
  return send(std::move(*input->recording), *command.otlp, command.filter);
}

}  // namespace mixwalk
