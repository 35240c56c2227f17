#pragma once

#include <optional>
#include <string>

#include "walker/cli/options/output_options.h"

namespace mixwalk {

// The command line of `mixwalk convert`.
struct ConvertArguments {
  std::optional<std::string> input, output, format;
  OtlpArguments otlp;
  FrameFilter filter;
};

void add_convert(CLI::App& app, ConvertArguments& arguments);
ParseResult finish_convert(const ConvertArguments& arguments, const OtelVariables& variables);

}  // namespace mixwalk
