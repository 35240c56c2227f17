#pragma once

#include <optional>
#include <string>

#include "walker/cli/options/command_line.h"

namespace mixwalk {

// The options for the destination of data: the format of a file, and a collector.

// The formats of dumps and of converted files, or, for `record`, only those that show samples over time.
enum class FormatsOf { all, recordings };
void add_format(CLI::App& app, std::optional<std::string>& format, FormatsOf which, const std::string& otherwise);
// The format that --format names, or else that of the file's extension, or null if the extension is unknown.
const RecordingFormat* chosen_format(const std::optional<std::string>& format, FormatsOf which, const std::string& file);

// Adds --depth and --managed-only. `verb` begins their help: "Show".
void add_frames(CLI::App& app, FrameFilter& filter, const std::string& verb);
// Refuses a filter by which the format cannot leave out frames.
void check_frames(const RecordingFormat& format, const FrameFilter& filter);

// Adds --all, for recorded exceptions, and with FormatsOf::all also for dumps.
void add_all(CLI::App& app, FrameFilter& filter, FormatsOf which);

// Adds --color, for text.
void add_colour(CLI::App& app, Colour& colour);

// Adds --runtime-data, which no help shows: it serves to compare the two sources.
void add_runtime_data(CLI::App& app, RuntimeSource& source);

struct OtlpArguments {
  std::optional<std::string> url, spool, service;  // given for the URL, empty if none is given
  std::vector<std::string> attributes, headers;      // NAME=VALUE
  bool command_line = false;
};
void add_otlp(CLI::App& app, OtlpArguments& arguments);
// Returns nothing if no collector is meant.
std::optional<OtlpTarget> finish_otlp(const CLI::App& app, const OtlpArguments& arguments,
                                      const OtelVariables& variables);

}  // namespace mixwalk
