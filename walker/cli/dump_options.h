#pragma once

#include <optional>
#include <string>

#include "walker/cli/output_options.h"
#include "walker/cli/visit_options.h"

namespace mixwalk {

// The command line of `mixwalk dump`.
struct DumpArguments {
  VisitArguments visit;
  std::optional<std::string> format;
  DumpCommand command;
};

void add_dump(CLI::App& app, DumpArguments& arguments);
ParseResult finish_dump(DumpArguments& arguments);

}  // namespace mixwalk
