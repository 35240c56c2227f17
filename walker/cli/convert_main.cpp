// mixwalk where no process can be attached to: it converts recordings, and gives them names.

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "walker/cli/convert.h"
#include "walker/cli/options.h"
#include "walker/cli/report.h"
#include "walker/cli/symbolise.h"

namespace mixwalk {
namespace {

ExitCode run_arguments(const std::vector<std::string>& arguments) {
  const ParseResult parsed = parse_command_line(arguments, otel_variables());
  if (!parsed.command) {
    std::fputs(parsed.to_stdout.c_str(), stdout);
    std::fputs(parsed.to_stderr.c_str(), stderr);
    return parsed.exit_code;
  }
  if (const auto* convert = std::get_if<ConvertCommand>(&*parsed.command)) return run(*convert);
  if (const auto* symbolise = std::get_if<SymboliseCommand>(&*parsed.command)) return run(*symbolise);
  return report({ExitCode::usage, "only convert and symbolise work here: processes are looked at on Windows"});
}

}  // namespace
}  // namespace mixwalk

int main(int count, char** values) {
  try {
    return static_cast<int>(mixwalk::run_arguments({values + (count > 0), values + count}));
  } catch (const std::exception& error) {
    return static_cast<int>(mixwalk::report(
        {mixwalk::ExitCode::internal, std::string("internal error: ") + error.what()}));
  }
}
