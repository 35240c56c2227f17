#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "walker/cli/options/output_options.h"
#include "walker/cli/options/visit_options.h"

namespace mixwalk {

// The command line of `mixwalk dump`.
struct DumpArguments {
  VisitArguments visit;
  std::optional<std::string> format, every;
  std::optional<std::uint32_t> repeat;
  bool one_by_one = false;
  DumpCommand command;
  const CLI::App* app = nullptr;  // the command's own app, which knows the given options
};

void add_dump(CLI::App& app, DumpArguments& arguments);
ParseResult finish_dump(DumpArguments& arguments);

// Whether an argument that is not an option means a dump file rather than a program. It does if the argument has an
// extension that is not that of a program. Pure: no file is looked for.
bool is_dump_file(const std::string& argument);
// For a dump file. The file is `arguments.visit.program.front()`.
ParseResult finish_dump_file(DumpArguments& arguments);

}  // namespace mixwalk
