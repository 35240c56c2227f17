#include <chrono>
#include <cstdio>
#include <stdexcept>

#include "symbols/symboliser.h"
#include "tests/bench/program.h"
#include "tests/end_to_end/session.h"
#include "walker/naming/symbolise.h"

namespace mixwalk::bench {
namespace {

double us_of(Snapshot snapshot, Symboliser& symboliser) {
  const auto begun = std::chrono::steady_clock::now();
  symbolise(snapshot, symboliser);
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begun)
      .count();
}

}  // namespace

void show_symbolising(const Options&) {
  const Program program({"--native", "8", "--managed", "8", "--depth", "100"});
  TargetSession session = attach_to(program.id(), "mixwalk.dll", kVisitMs);
  const auto snapshot = session.dump({});
  session.leave();
  if (!snapshot) throw std::runtime_error(snapshot.failure().message);
  double frames = 0;
  for (const Thread& thread : snapshot->threads) {
    for (const Frame& frame : thread.stack.frames) {
      frames += frame.kind != FrameKind::managed && frame.module != Frame::kNone;
    }
  }
  DiskImageFiles files;
  Symboliser symboliser(files, files);
  const double cold = us_of(*snapshot, symboliser), warm = us_of(*snapshot, symboliser);
  std::printf("\nSymbolising in mixwalk.exe, %.0f native frames\n", frames);
  std::printf("  cold, images read from the disk: %.2f us a frame; warm: %.3f us a frame\n",
              cold / frames, warm / frames);
}

}  // namespace mixwalk::bench
