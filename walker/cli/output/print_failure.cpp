#include "walker/cli/output/print_failure.h"

#include <cstdio>

#include "walker/base/printable.h"

namespace mixwalk {

ExitCode print_failure(const Failure& failure) {
  // Names and paths in the report may come from a foreign process.
  constexpr std::size_t kMaxBytes = 2000;
  std::fprintf(stderr, "mixwalk: %s\n", printable(failure.message, kMaxBytes).c_str());
  return failure.code;
}

}  // namespace mixwalk
