#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "walker/cli/options/output_options.h"
#include "walker/cli/options/visit_options.h"

namespace mixwalk {

// The command line of `mixwalk record`.
struct RecordArguments {
  VisitArguments visit;
  std::optional<std::string> duration, interval, output, format;
  std::optional<std::uint32_t> rate, every;
  std::optional<std::string> on, budget;
  std::optional<SampleEvent> mode;
  OtlpArguments otlp;
  RecordCommand command;
};

void add_record(CLI::App& app, RecordArguments& arguments);
ParseResult finish_record(RecordArguments& arguments, const OtelVariables& variables);

}  // namespace mixwalk
