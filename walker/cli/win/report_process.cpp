#include <fmt/format.h>

#include <utility>

#include "walker/base/count_words.h"
#include "walker/cli/dump_file.h"
#include "walker/cli/hang.h"
#include "walker/cli/local_symbols.h"
#include "walker/cli/output/print_failure.h"
#include "walker/cli/output/write_output.h"
#include "walker/cli/win/command.h"
#include "walker/cli/win/console.h"
#include "walker/cli/win/taken_dumps.h"

namespace mixwalk {

// If the process ends between the dumps, those so far are explained. The exit code says that it has ended, unless the
// dumps show something worse.
ExitCode run(const ReportProcessCommand& command) {
  say_missing_folders(command.dump.visit.symbols);
  Output output(command.report.output);
  if (const auto failure = output.failure()) return print_failure(*failure);
  TakenDumps taken = take_dumps(command.dump);
  if (taken.dumps.empty()) return print_failure(*taken.failure);
  const std::size_t count = taken.dumps.size();
  const std::string explained = fmt::format("; {} of {} {} explained", count,
                                            count_words(command.dump.repeat, "dump"), count == 1 ? "is" : "are");
  if (taken.failure) print_failure({taken.failure->code, taken.failure->message + explained});
  if (taken.stopped) print_failure({ExitCode::ok, "the dumps were ended by Ctrl-C" + explained});
  const bool colour = wants_colour(command.report, supports_escapes(stdout));
  const ExitCode code = explain(command.report, colour, std::move(taken.dumps), taken.process, output);
  return code == ExitCode::ok && taken.failure ? taken.failure->code : code;
}

}  // namespace mixwalk
