// mixwalk on systems where it cannot attach to a process. It converts and symbolises recordings, shows the stacks of
// dumps, and compares dumps.

#include <unistd.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "walker/cli/commands.h"
#include "walker/cli/hang.h"
#include "walker/cli/output/print_failure.h"
#include "walker/cli/run_arguments.h"
#include "walker/target/disk_images.h"

namespace mixwalk {
namespace {

std::unique_ptr<ClrQuestions> no_clr(const Target& target, const DumpFileCommand&, std::string& obstacle) {
  if (!target.runtime().name.empty()) {
    obstacle = "the runtime's debugging library runs on Windows only";
  }
  return nullptr;
}

template <class Command>
ExitCode run_command(const Command& command) {
  NoImageFiles none;  // a dump names files of the machine on which it was made
  return run_here(command, {.local = none,
                            .show_colours = [] { return isatty(STDOUT_FILENO) != 0; },
                            .open_clr = &no_clr,
                            .log = [](const std::string& text) { std::fprintf(stderr, "mixwalk: %s\n", text.c_str()); }});
}

}  // namespace
}  // namespace mixwalk

int main(int count, char** values) {
  try {
    return static_cast<int>(mixwalk::run_arguments({values + (count > 0), values + count},
                                                   [](const auto& command) { return mixwalk::run_command(command); },
                                                   {.processes = false}));
  } catch (const std::exception& error) {
    return static_cast<int>(
        mixwalk::print_failure({mixwalk::ExitCode::internal, std::string("internal error: ") + error.what()}));
  }
}
