#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "walker/cli/output_options.h"
#include "walker/cli/visit_options.h"

namespace mixwalk {

// The command line of `mixwalk dump`.
struct DumpArguments {
  VisitArguments visit;
  std::optional<std::string> format, every;
  std::optional<std::uint32_t> repeat;
  bool one_by_one = false;
  DumpCommand command;
  const CLI::App* app = nullptr;  // the command's own, which knows what options were given
};

void add_dump(CLI::App& app, DumpArguments& arguments);
ParseResult finish_dump(DumpArguments& arguments);

// Whether an argument that is no option means a dump file rather than a program: the argument has an extension, and the
// extension is not that of a program. Pure: no file is looked for.
bool is_dump_file(const std::string& argument);
// Of a dump file: it is `arguments.visit.program.front()`.
ParseResult finish_dump_file(DumpArguments& arguments);

}  // namespace mixwalk
