#pragma once

#include <spdlog/spdlog.h>

#include <vector>

#include "walker/cli/local_symbols.h"

namespace mixwalk {

// Says in the log which PDBs were not found.
inline void log_missing(const std::vector<MissingPdb>& missing) {
  if (missing.empty()) return;
  std::string text = manifest_text(missing);
  text.pop_back();
  spdlog::info("{} PDBs were not found; as symchk /im takes them:\n{}", missing.size(), text);
}

}  // namespace mixwalk
