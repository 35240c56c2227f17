#pragma once

#include <optional>
#include <string>
#include <vector>

#include "walker/cli/options/command_line.h"

namespace mixwalk {

// The options for the destination of data: the format of a file, and a collector.

// The formats of dumps and of converted files, or, for `record`, only those that show samples over time.
enum class FormatsOf { all, recordings };
// The help of --format. `otherwise`: the format if that option is not given.
std::string format_help(FormatsOf which, const std::string& otherwise);
void add_format(CLI::App& app, std::optional<std::string>& format, FormatsOf which, const std::string& otherwise);
// The format that --format names, or else that of the file's extension. Returns null if there is neither: the file has
// no extension, or is standard output ("" or "-"). Refuses an extension of no format.
const RecordingFormat* chosen_format(const CLI::App& app, const std::optional<std::string>& format, FormatsOf which,
                                     const std::string& file);
// Refuses the name of a file to write. `does`: the command. `formats`: those that it can write.
[[noreturn]] void refuse_extension(const std::string& file, const std::string& does,
                                   const std::vector<std::string>& formats);
// Adds --format with the words text and json, and --json.
void add_list_format(CLI::App& app, Format& format);

// Adds --depth and --managed-only. `verb` begins their help: "Show".
void add_frames(CLI::App& app, FrameFilter& filter, const std::string& verb);
// Refuses a filter by which the format cannot leave out frames.
void check_frames(const RecordingFormat& format, const FrameFilter& filter);

// Adds --all, for recorded exceptions, and with FormatsOf::all also for dumps.
void add_all(CLI::App& app, FrameFilter& filter, FormatsOf which);
// Refuses --all where it changes nothing: if a .mixwalk file is all that is written. `format`: null for no file.
void check_all(const CLI::App& app, const RecordingFormat* format, bool otlp);

// Adds --color, for text.
void add_colour(CLI::App& app, Colour& colour);

// Refuses --dac on a system that cannot load it.
void refuse_foreign_dac(const CLI::App& app);

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
