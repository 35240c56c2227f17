// mixwalk on systems where it cannot attach to a process. It converts and symbolises recordings, shows the stacks of
// dumps, and compares dumps.

#include <unistd.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "walker/cli/convert.h"
#include "walker/cli/dump_file.h"
#include "walker/cli/hang.h"
#include "walker/cli/options/options.h"
#include "walker/cli/output/print_failure.h"
#include "walker/cli/output/write_output.h"
#include "walker/cli/symbol_path_variable.h"
#include "walker/cli/symbolise.h"
#include "walker/target/disk_images.h"

namespace mixwalk {
namespace {

std::unique_ptr<ClrQuestions> no_clr(const Target& target, std::string& obstacle) {
  if (!target.runtime().name.empty()) {
    obstacle = "the runtime's debugging library runs on Windows only";
  }
  return nullptr;
}

ExitCode run_dump(const DumpFileCommand& command) {
  NoImageFiles none;  // a dump names files of the machine on which it was made
  return run(command, {.local = none,
                       .symbol_path = symbol_path_text(command.symbol_path),
                       .colour = wants_colour(command, isatty(STDOUT_FILENO) != 0),
                       .open_clr = &no_clr,
                       .log = [](const std::string& text) { std::fprintf(stderr, "mixwalk: %s\n", text.c_str()); }});
}

ExitCode run_hang(const HangCommand& command) {
  NoImageFiles none;
  const DumpFileServices dumps{.local = none,
                               .symbol_path = symbol_path_text(command.symbol_path),
                               .open_clr = &no_clr,
                               .log = [](const std::string&) {}};
  return run(command, {.colour = wants_colour(command.colour, command.output.has_value(), isatty(STDOUT_FILENO) != 0),
                       .open_dump = [&](const std::string& file) { return read_dump_file(file, dumps); }});
}

ExitCode run_arguments(const std::vector<std::string>& arguments) {
  const ParseResult parsed = parse_command_line(arguments, otel_variables());
  if (!parsed.command) {
    if (!parsed.to_stdout.empty()) return print(parsed.to_stdout);
    std::fputs(parsed.to_stderr.c_str(), stderr);
    return parsed.exit_code;
  }
  if (const auto* convert = std::get_if<ConvertCommand>(&*parsed.command)) return run(*convert);
  if (const auto* dump = std::get_if<DumpFileCommand>(&*parsed.command)) return run_dump(*dump);
  if (const auto* hang = std::get_if<HangCommand>(&*parsed.command)) return run_hang(*hang);
  if (const auto* symbolise = std::get_if<SymboliseCommand>(&*parsed.command)) return run(*symbolise);
  return print_failure(
      {ExitCode::usage,
       "only convert, symbolise, compare, report and dump FILE.dmp work here: processes are looked at on Windows"});
}

}  // namespace
}  // namespace mixwalk

int main(int count, char** values) {
  try {
    return static_cast<int>(mixwalk::run_arguments({values + (count > 0), values + count}));
  } catch (const std::exception& error) {
    return static_cast<int>(
        mixwalk::print_failure({mixwalk::ExitCode::internal, std::string("internal error: ") + error.what()}));
  }
}
