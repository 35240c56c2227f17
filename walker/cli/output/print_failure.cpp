#include "walker/cli/output/print_failure.h"

#include <cstdio>

#include "walker/base/printable.h"
#include "walker/cli/output/progress_line.h"

namespace mixwalk {

ExitCode print_failure(const Failure& failure) {
  // Names and paths in the report may come from a foreign process.
  constexpr std::size_t kMaxBytes = 2000;
  clear_progress_line();
  std::fprintf(stderr, "mixwalk: %s\n", printable(failure.message, kMaxBytes).c_str());
  return failure.code;
}

}  // namespace mixwalk
