#pragma once

#include <optional>
#include <string>
#include <vector>

#include "walker/base/failure.h"
#include "walker/cli/options/options.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// The dumps of a process that DumpCommand asks for, with the names of their frames.
struct TakenDumps {
  std::vector<Snapshot> dumps;
  std::string process;             // "process 4711 (orders.exe)"
  std::optional<Failure> failure;  // why there are fewer dumps than wanted, or none
  bool stopped = false;            // Ctrl-C has ended the series
};
TakenDumps take_dumps(const DumpCommand& command);

}  // namespace mixwalk
