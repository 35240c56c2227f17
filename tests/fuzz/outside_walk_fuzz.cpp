// Walks arbitrary bytes as a dump, with names and locks as in `mixwalk dump FILE.dmp`: the walk must end within its
// limits, and its stacks must be consistent. If the dump has a runtime, its data contracts are asked.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "symbols/symboliser.h"
#include "walker/clr/contracts/open_contracts.h"
#include "walker/locks/native_waits.h"
#include "walker/naming/check_calls.h"
#include "walker/naming/symbolise.h"
#include "walker/outside/target_snapshot.h"
#include "walker/target/dump_target.h"

using namespace mixwalk;

static void require(bool condition) {
  if (!condition) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Minidump dump = Minidump::parse(std::span(reinterpret_cast<const std::byte*>(data), size));
  if (dump.error() != MinidumpError::none) return 0;
  NoImageFiles none;
  DiskImages disk(none, none, {});
  DumpTarget target(dump, disk);
  const OutsideLimits limits{.time = std::chrono::seconds(2), .frames = 100'000};
  const OpenedClr clr = open_contracts(target, RuntimeSource::contracts);
  Snapshot snapshot =
      target_snapshot(target, clr.questions.get(), clr.obstacle, {}, {.locks = true, .heap = true}, limits);
  const bool unlisted = target.threads().size() != dump.threads().size();
  require(!unlisted || (dump.exception() && target.threads().size() == dump.threads().size() + 1));
  require(snapshot.threads.size() == target.threads().size());
  require(!snapshot.crash || snapshot.crash->objects.size() <= kMaxCrashObjects);
  for (const Thread& thread : snapshot.threads) {
    std::uint64_t rsp = 0;
    for (const StackFrame& frame : thread.stack.frames) {
      if (frame.kind == FrameKind::gap) continue;
      require(frame.module < static_cast<std::int64_t>(snapshot.modules.size()));
      // A frame to which a trap's CONTEXT led may be anywhere; every other frame is higher on the stack than the one
      // before.
      require(frame.trust == Trust::context || frame.stack_pointer >= rsp);
      rsp = frame.stack_pointer;
    }
    require(thread.stack.frames.size() <= 65'536 + 1);
  }
  TargetImages images(disk, target.dumped_memory(), target.images());
  Symboliser symboliser(images, none);
  symbolise(snapshot, symboliser);
  add_native_locks(snapshot, target);
  CallChecker calls(symboliser, loaded_images(snapshot));
  check_calls(snapshot, calls);
  return 0;
}
