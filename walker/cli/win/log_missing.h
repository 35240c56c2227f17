#pragma once

#include <spdlog/spdlog.h>

#include <vector>

#include "walker/cli/local_symbols.h"

namespace mixwalk {

// Says in the log which PDBs were not found.
inline void log_missing(const std::vector<MissingPdb>& missing) {
  if (!missing.empty()) spdlog::info(missing_text(missing));
}

}  // namespace mixwalk
