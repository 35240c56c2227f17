#include "walker/cli/output/report.h"

#include <cstdio>

#include "walker/base/printable.h"

namespace mixwalk {

ExitCode report(const Failure& failure) {
  // Names and paths in the report may come from a foreign process.
  constexpr std::size_t kMaxBytes = 2000;
  std::fprintf(stderr, "mixwalk: %s\n", printable(failure.message, kMaxBytes).c_str());
  return failure.code;
}

}  // namespace mixwalk
