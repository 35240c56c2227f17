#pragma once

#include <functional>
#include <string>

#include "walker/base/failure.h"
#include "walker/cli/options/options.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// The services of the machine for compare and report.
struct HangServices {
  bool colour = false;  // whether text is coloured
  // Reads a minidump (read_dump_file).
  std::function<Outcome<Snapshot>(const std::string& file)> open_dump;
};

// mixwalk compare and mixwalk report. Prints the findings; failures are reported. Returns ExitCode::stuck or deadlock
// if threads are stuck or deadlocked.
ExitCode run(const HangCommand& command, const HangServices& host);

}  // namespace mixwalk
