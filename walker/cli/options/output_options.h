#pragma once

#include <optional>
#include <string>

#include "walker/cli/options/arguments.h"

namespace mixwalk {

// The options for the destination of data: the format of a file, and a collector.

// The formats of dumps and of converted files, or, for `record`, only those that show samples over time.
enum class FormatsOf { all, recordings };
void add_format(CLI::App& app, std::optional<std::string>& format, FormatsOf which,
                const std::string& otherwise);
// The error for a --format that is none of these formats.
ParseResult unknown_format(const std::string& format, FormatsOf which, const std::string& command);
// Returns an error, or nothing if the format can leave out the frames that the filter leaves out.
std::optional<ParseResult> refuse_filter(const RecordingFormat& format, const FrameFilter& filter,
                                         const std::string& command);

// Adds --all, for recorded exceptions, and with FormatsOf::all also for dumps.
void add_all(CLI::App& app, FrameFilter& filter, FormatsOf which);

// Adds --color, for text.
void add_colour(CLI::App& app, Colour& colour);

struct OtlpArguments {
  std::optional<std::string> url, spool, service;  // given for the URL, empty if none is given
  std::vector<std::string> attributes, headers;      // NAME=VALUE
  bool command_line = false;
};
void add_otlp(CLI::App& app, OtlpArguments& arguments);
// Returns an error, or nothing if the options are valid; `target` then has them.
std::optional<ParseResult> finish_otlp(const OtlpArguments& arguments,
                                       const OtelVariables& variables, const std::string& command,
                                       std::optional<OtlpTarget>& target);

}  // namespace mixwalk
