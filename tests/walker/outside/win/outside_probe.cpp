// Prints the stacks of a live process (by its id) or of a dump (by its path) from outside, as text, like mixwalk dump
// --outside without the command line.

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/walker/outside/win/look_outside.h"

int main(int count, char** values) {
  if (count < 3) return 2;
  const int process = std::atoi(values[1]);
  const auto look = process != 0 ? mixwalk::look_outside(static_cast<std::uint32_t>(process), values[2])
                                 : mixwalk::look_at_dump(values[1], values[2]);
  if (!look.failure.empty()) {
    std::printf("%s\n", look.failure.c_str());
    return 1;
  }
  std::uint64_t frozen = 0, stopping = 0;
  for (const auto& thread : look.snapshot.threads) {
    frozen = std::max(frozen, thread.frozen_ns);
    stopping = std::max(stopping, thread.stopping_ns);
    std::printf("\n%u %s %s\n", thread.os_id, thread.name.c_str(), thread.skipped.c_str());
    for (const auto& run : thread.stack.runs()) {
      if (run.end == mixwalk::RunEnd::open) std::printf("  open: %d\n", static_cast<int>(run.why));
    }
    for (const auto& frame : thread.stack.frames) {
      if (frame.function != 0) std::printf("  %s\n", frame.name.c_str());
    }
  }
  std::printf("obstacle: %s\nms: open %llu dac %llu walk %llu names %llu\n", look.obstacle.c_str(), look.open_ms,
              look.dac_ms, look.walk_ms, look.names_ms);
  std::printf("us: frozen at most %llu, stopping at most %llu\n", frozen / 1000ull, stopping / 1000ull);
}
