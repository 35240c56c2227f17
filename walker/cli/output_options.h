#pragma once

#include <optional>
#include <string>

#include "walker/cli/arguments.h"

namespace mixwalk {

// The options that say where something goes: the format of a file, and a collector.

// The formats of dumps and of converted files; or, for `record`, those that show samples over time.
enum class FormatsOf { all, recordings };
void add_format(CLI::App& app, std::optional<std::string>& format, FormatsOf which,
                const std::string& otherwise);
// An error for a --format that is none of these.
ParseResult unknown_format(const std::string& format, FormatsOf which, const std::string& command);
// Returns an error, or nothing when the format can leave out what the filter says.
std::optional<ParseResult> refuse_filter(const RecordingFormat& format, const FrameFilter& filter,
                                         const std::string& command);

// --all, of recorded exceptions; with FormatsOf::all of dumps, too.
void add_all(CLI::App& app, FrameFilter& filter, FormatsOf which);

// --color, of text.
void add_colour(CLI::App& app, Colour& colour);

struct OtlpArguments {
  std::optional<std::string> url, spool, service;  // of the URL, empty if none is given
  std::vector<std::string> attributes, headers;      // NAME=VALUE
  bool command_line = false;
};
void add_otlp(CLI::App& app, OtlpArguments& arguments);
// Returns an error, or nothing when the options are valid; then `target` has them.
std::optional<ParseResult> finish_otlp(const OtlpArguments& arguments,
                                       const OtelVariables& variables, const std::string& command,
                                       std::optional<OtlpTarget>& target);

}  // namespace mixwalk
