// mixwalk on systems where it cannot attach to a process. It converts and symbolises recordings, shows the stacks of
// dumps, and compares dumps.

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "walker/base/unfinished_output.h"
#include "walker/cli/commands.h"
#include "walker/cli/hang.h"
#include "walker/cli/output/print_failure.h"
#include "walker/cli/run_arguments.h"
#include "walker/clr/contracts/open_contracts.h"
#include "walker/target/disk_images.h"

namespace mixwalk {
namespace {

OpenedClr open_clr_of(const Target& target, const DumpFileCommand& command, StoreFetch*) {
  OpenedClr clr = open_contracts(target, command.runtime_data);
  if (!clr.obstacle.empty()) clr.obstacle += "; the runtime's debugging library runs on Windows only";
  return clr;
}

// If a standard stream is closed, the first file that is opened would take its place, and messages would be written
// into that file. A stream that cannot be written takes the place instead, so that a write fails.
void fill_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) == -1) open("/dev/null", O_RDONLY);
  }
}

void on_end(int signal) {
  if (const char* const path = unfinished_output()) unlink(path);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// A reader that closes its pipe, and a file that may not grow further, are failures of a write, which has a line and an
// exit code. A signal that ends the process leaves no incomplete file.
void set_up_signals() {
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
    // nohup ignores SIGHUP, and a shell's background job SIGINT.
    if (std::signal(signal, &on_end) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

template <class Command>
ExitCode run_command(const Command& command) {
  NoImageFiles none;  // a dump names files of the machine on which it was made
  return run_here(command,
                  {.local = none,
                   .show_colours = [] { return isatty(STDOUT_FILENO) != 0; },
                   .open_clr = &open_clr_of,
                   .log = [](const std::string& text) { std::fprintf(stderr, "mixwalk: %s\n", text.c_str()); }});
}

}  // namespace
}  // namespace mixwalk

int main(int count, char** values) {
  mixwalk::fill_standard_streams();
  mixwalk::set_up_signals();
  try {
    return static_cast<int>(mixwalk::run_arguments({values + (count > 0), values + count}, {},
                                                   [](const auto& command) { return mixwalk::run_command(command); },
                                                   {.processes = false}));
  } catch (const std::exception& error) {
    return static_cast<int>(
        mixwalk::print_failure({mixwalk::ExitCode::internal, std::string("internal error: ") + error.what()}));
  }
}
