#pragma once

#include <functional>
#include <string>

#include "walker/base/failure.h"
#include "walker/cli/options.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// What the machine lends to compare and report.
struct HangHost {
  bool colour = false;  // of text
  // Reads a minidump (read_dump_file).
  std::function<Outcome<Snapshot>(const std::string& file)> open_dump;
};

// mixwalk compare and mixwalk report. Prints what is wrong; failures are reported. Returns ExitCode::stuck or deadlock
// where threads are stuck or deadlocked.
ExitCode run(const HangCommand& command, const HangHost& host);

}  // namespace mixwalk
