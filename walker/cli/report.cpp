#include "walker/cli/report.h"

#include <cstdio>

namespace mixwalk {

ExitCode report(const Failure& failure) {
  std::fprintf(stderr, "mixwalk: %s\n", failure.message.c_str());
  return failure.code;
}

}  // namespace mixwalk
