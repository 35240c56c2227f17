#include "walker/locks/target_locks.h"

#include <gtest/gtest.h>

#include "tests/builders/fake_clr_questions.h"
#include "tests/walker/target/standing_target.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kThreadTeb = 0x7'0000'0000;

// Thread 1 begins a collection. Thread 2 is in managed code by what the runtime says, and in a system call by its
// stack, with a frame of each image of `callers` in between.
std::vector<Lock> locks_below(const std::vector<std::string>& callers) {
  test::FakeClrQuestions clr;
  clr.clr_threads = {{.address = 0x100, .os_id = 1, .cooperative = true, .pauses = true},
                     {.address = 0x200, .os_id = 2, .cooperative = true}};
  test::StandingTarget target;
  const std::uint64_t top = test::StandingTarget::kStack + 0x2'0000;
  target.memory_of.put(kThreadTeb + 8, top + 4096);
  target.memory_of.put(kThreadTeb + 16, top);
  target.listed = {{.os_id = 1}, {.os_id = 2, .teb = kThreadTeb}};
  Snapshot snapshot;
  Thread thread{.os_id = 2};
  const auto add = [&](const std::string& image, FrameKind kind) {
    StackFrame frame;
    frame.kind = kind;
    frame.stack_pointer = top + 8 * thread.stack.frames.size();
    if (!image.empty()) {
      frame.module = static_cast<std::int32_t>(snapshot.modules.size());
      snapshot.modules.push_back({.path = "C:\\" + image});
    }
    thread.stack.frames.push_back(frame);
  };
  add("ntdll.dll", FrameKind::native);
  for (const std::string& caller : callers) add(caller, FrameKind::native);
  add("", FrameKind::managed);
  add("coreclr.dll", FrameKind::native);  // which calls every managed thread
  snapshot.threads.push_back(std::move(thread));
  add_managed_locks(snapshot, target, clr);
  return snapshot.locks;
}

TEST(TargetLocksTest, APauseWaitsForAThreadThatHasCalledTheSystem) {
  EXPECT_EQ(locks_below({"kernelbase.dll", "orders_native.dll"}),
            (std::vector<Lock>{{.kind = LockKind::pause, .owner = 2, .held = true, .waiters = {{1}}}}));
}

TEST(TargetLocksTest, APauseDoesNotWaitForAThreadThatTheRuntimeItselfHolds) {
  EXPECT_EQ(locks_below({"kernelbase.dll", "coreclr.dll"}), std::vector<Lock>{});
}

// The program runs, so only locks count that two looks find. Thread 3, which has no lock, ends between the two.
TEST(TargetLocksTest, TheSecondLookIsAtTheThreadsOfTheLocksThatTheFirstOneFound) {
  test::FakeClrQuestions clr;
  clr.clr_threads = {{.address = 0x100, .os_id = 1, .cooperative = true, .pauses = true},
                     {.address = 0x200, .os_id = 2, .cooperative = true},
                     {.address = 0x300, .os_id = 3}};
  clr.sync_block_answers = {{}};
  test::StandingTarget target;
  target.live = true;
  Snapshot snapshot{.modules = {{.path = "C:\\ntdll.dll"}}};
  for (std::uint32_t id = 2; id <= 3; ++id) {
    const std::uint64_t teb = kThreadTeb + 0x1'0000 * id, top = test::StandingTarget::kStack + 0x1'0000 * id;
    target.memory_of.put(teb + 8, top + 4096);
    target.memory_of.put(teb + 16, top);
    target.listed.push_back({.os_id = id, .teb = teb});
    StackFrame leaf(Frame{.module = 0}, top), managed(Frame{.kind = FrameKind::managed}, top + 8);
    snapshot.threads.push_back({.os_id = id, .stack = {.frames = {leaf, managed}}});
  }
  int looks = 0;
  clr.on_run = [&] {
    if (++looks == 2) target.memory_of.put(kThreadTeb + 0x3'0000 + 8, std::uint64_t{0});
  };
  add_managed_locks(snapshot, target, clr);
  EXPECT_EQ(snapshot.locks, (std::vector<Lock>{{.kind = LockKind::pause, .owner = 2, .held = true, .waiters = {{1}}}}));
  EXPECT_EQ(snapshot.locks_missing, "");
}

}  // namespace
}  // namespace mixwalk
