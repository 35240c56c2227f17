// mixwalk.exe

#include <fcntl.h>
#include <io.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <windows.h>

#include <cstdio>
#include <exception>

#include "unmanaged/win/utf8.h"
#include "walker/cli/convert.h"
#include "walker/cli/options/options.h"
#include "walker/cli/output/print_failure.h"
#include "walker/cli/output/write_output.h"
#include "walker/cli/symbolise.h"
#include "walker/cli/win/command.h"
#include "walker/cli/win/console.h"
#include "walker/clr/win/clr_worker.h"
#include "walker/target/suspension/suspension_watcher.h"

namespace mixwalk {

namespace {

void set_up_log(bool verbose) {
  auto log = spdlog::stderr_logger_st("mixwalk");
  log->set_pattern("mixwalk: %H:%M:%S.%e %v");
  log->set_level(verbose ? spdlog::level::info : spdlog::level::off);
  spdlog::set_default_logger(std::move(log));
}

ExitCode run_arguments(const std::vector<std::string>& arguments) {
  ParseResult parsed = parse_command_line(arguments, otel_variables());
  if (!parsed.command) {
    if (!parsed.to_stdout.empty()) return print(parsed.to_stdout);
    std::fputs(parsed.to_stderr.c_str(), stderr);
    return parsed.exit_code;
  }
  const auto* dump = std::get_if<DumpCommand>(&*parsed.command);
  const auto* record = std::get_if<RecordCommand>(&*parsed.command);
  const auto* dump_file = std::get_if<DumpFileCommand>(&*parsed.command);
  const auto* minidump = std::get_if<MinidumpCommand>(&*parsed.command);
  const auto* hang = std::get_if<HangCommand>(&*parsed.command);
  set_up_log((dump_file != nullptr && dump_file->verbose) || (minidump != nullptr && minidump->verbose) ||
             (hang != nullptr && hang->verbose) ||
             (dump != nullptr && dump->verbose) || (record != nullptr && record->verbose));
  return std::visit([](const auto& command) { return mixwalk::run(command); }, *parsed.command);
}

}  // namespace

int main_utf8(int count, wchar_t** values) {
  std::vector<std::string> arguments;
  for (int i = 1; i < count; ++i) arguments.push_back(to_utf8(values[i]));
  if (const auto worker = run_clr_worker(arguments)) return *worker;
  if (const auto watcher = run_suspension_watcher(arguments)) return *watcher;
  return static_cast<int>(run_arguments(arguments));
}

}  // namespace mixwalk

int wmain(int count, wchar_t** values) {
  const mixwalk::ConsoleRestorer console;
  // UTF-8 is written unchanged, including line ends, so the output is the same bytes on every machine.
  _setmode(_fileno(stdout), _O_BINARY);
  _setmode(_fileno(stderr), _O_BINARY);
  try {
    return mixwalk::main_utf8(count, values);
  } catch (const std::exception& error) {
    return static_cast<int>(
        mixwalk::print_failure({mixwalk::ExitCode::internal, std::string("internal error: ") + error.what()}));
  }
}
