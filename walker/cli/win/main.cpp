// mixwalk.exe

#include <fcntl.h>
#include <io.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <windows.h>

#include <cstdio>
#include <exception>
#include <memory>

#include "symbols/image_files.h"
#include "symbols/symbol_path.h"
#include "unmanaged/win/utf8.h"
#include "walker/cli/commands.h"
#include "walker/cli/hang.h"
#include "walker/cli/input_file.h"
#include "walker/cli/local_symbols.h"
#include "walker/cli/output/print_failure.h"
#include "walker/cli/output/progress_line.h"
#include "walker/cli/run_arguments.h"
#include "walker/cli/win/command.h"
#include "walker/cli/win/console.h"
#include "walker/clr/win/clr_worker.h"
#include "walker/clr/win/target_clr.h"
#include "walker/target/suspension/suspension_watcher.h"

namespace mixwalk {

namespace {

// Standard error, after the progress line that may be shown there.
class LogSink final : public spdlog::sinks::stderr_sink_st {
  void log(const spdlog::details::log_msg& message) override {
    clear_progress_line();
    spdlog::sinks::stderr_sink_st::log(message);
  }
};

void set_up_log(bool verbose) {
  auto log = std::make_shared<spdlog::logger>("mixwalk", std::make_shared<LogSink>());
  log->set_pattern("mixwalk: %H:%M:%S.%e %v");
  log->set_level(verbose ? spdlog::level::info : spdlog::level::off);
  spdlog::set_default_logger(std::move(log));
}

OpenedClr open_clr_of(const Target& target, const DumpFileCommand& command, StoreFetch* servers) {
  if (command.file == kStandardInput) {
    // The debugging library runs in another process, which opens the file.
    const RuntimeSource wanted = command.dac.empty() ? command.runtime_data : RuntimeSource::debugging_library;
    OpenedClr clr = open_contracts(target, wanted);
    if (!clr.obstacle.empty()) {
      clr.obstacle += "; the runtime's debugging library cannot read standard input: name a file";
    }
    return clr;
  }
  const SymbolPath path = symbol_path_of(command.symbols);
  OpenedClr clr = open_clr(target, {.dump_path = command.file, .symbol_path = folders_text(path)},
                           {.dac = command.dac, .symbol_path = path, .servers = servers}, command.runtime_data);
  const bool may_ask = servers == nullptr && command.symbols.asking != SymbolAsking::offline && command.dac.empty();
  if (may_ask && clr.questions == nullptr && !clr.obstacle.empty() &&
      command.runtime_data != RuntimeSource::contracts) {
    clr.obstacle += "; with --symbols online, mixwalk asks Microsoft's symbol server for it";
  }
  return clr;
}

template <class Command>
ExitCode run_command(const Command& command) {
  if constexpr (requires { command.verbose; }) {
    set_up_log(command.verbose);
  } else {
    set_up_log(false);
  }
  DiskImageFiles disk;
  LocalImageFiles local(disk);
  return run_here(command, {.local = local,
                            .show_colours = [] { return supports_escapes(stdout); },
                            .open_clr = &open_clr_of,
                            .log = [](const std::string& text) { spdlog::info(text); }});
}

}  // namespace

int main_utf8(int count, wchar_t** values) {
  std::vector<std::string> arguments;
  for (int i = 1; i < count; ++i) arguments.push_back(to_utf8(values[i]));
  if (const auto worker = run_clr_worker(arguments)) return *worker;
  if (const auto watcher = run_suspension_watcher(arguments)) return *watcher;
  return static_cast<int>(
      run_arguments(arguments, &list_folder, [](const auto& command) { return run_command(command); }));
}

}  // namespace mixwalk

int wmain(int count, wchar_t** values) {
  const mixwalk::ConsoleRestorer console;
  // UTF-8 is written unchanged, including line ends, so the output is the same bytes on every machine.
  _setmode(_fileno(stdout), _O_BINARY);
  _setmode(_fileno(stderr), _O_BINARY);
  _setmode(_fileno(stdin), _O_BINARY);  // a file may be read from it
  try {
    return mixwalk::main_utf8(count, values);
  } catch (const std::exception& error) {
    return static_cast<int>(
        mixwalk::print_failure({mixwalk::ExitCode::internal, std::string("internal error: ") + error.what()}));
  }
}
