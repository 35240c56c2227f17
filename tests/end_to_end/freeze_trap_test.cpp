// Checks which imports mixwalk.dll really calls while a thread is frozen. The freeze trap
// (tests/support/win/freeze_trap.h) records these calls in real programs. No function that is missing in the list below
// may be called.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>

#include "tests/end_to_end/session.h"
#include "tests/support/win/child_process.h"
#include "tests/support/win/freeze_trap_page.h"

namespace mixwalk {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Key;

// The number of freezes in each program. The slowest program allows a hundred per second.
constexpr std::uint64_t kFreezes = 500;

// No function in this list takes a lock that a frozen thread of this process could hold.
const std::map<std::string, std::string> kAllowed = {
    {"SuspendThread", "system call: a second thread (the canary) stands beside the first"},
    {"ResumeThread", "system call: the end of the freeze"},
    {"GetThreadContext", "system call: the registers; also waits until the thread stands"},
    {"QueryPerformanceCounter", "reads the processor's or the system's counter"},
    {"GetTickCount64", "reads the page that the system shares with every process"},
    {"VirtualQuery", "system call: may this stack be read? Wine's mutex is held with signals off"},
    {"SwitchToThread", "system call: while the supervisor is resuming"},
    {"SetEvent", "system call: asks the probe's worker"},
    {"ResetEvent", "system call: the worker's answer"},
    {"SetWaitableTimer", "system call: the time limit of the next wait"},
    {"WaitForMultipleObjects", "system call: for the worker's answer, with a time limit"},
    {"WaitForSingleObject", "system call: whether a silent supervisor has ended"},
    {"memcmp", "compares; no state"},
    {"memcpy", "copies; no state"},
    {"memmove", "copies; no state"},
    {"memset", "fills; no state"},
};

struct Visit {
  std::uint64_t freezes = 0, ended_by_another = 0, imports = 0, sabotages = 0;
  std::map<std::string, std::uint32_t> allowed;
  std::map<std::string, std::uint32_t> forbidden;
};

Visit read(const FreezeTrapRecord& record) {
  Visit visit{record.freezes, record.ended_by_another, record.imports, record.sabotages, {}, {}};
  for (std::uint32_t i = 0; i < record.imports; ++i) {
    const FreezeTrapRecord::Import& import = record.table[i];
    if (import.calls == 0) continue;
    const bool allowed = kAllowed.contains(import.name);
    (allowed ? visit.allowed : visit.forbidden)[import.name] += import.calls;
    std::printf("  %s %s: %u times, first from mixwalk_trapped.dll+0x%x\n",
                allowed ? "allowed" : "FORBIDDEN", import.name, import.calls.load(),
                import.first_caller.load());
  }
  std::printf("  %llu freezes, %llu ended by the supervisor\n", visit.freezes,
              visit.ended_by_another);
  return visit;
}

// Makes dumps by both engines and of all threads together, in turn, until there were enough freezes.
Visit visit(DWORD process_id, std::uint64_t freezes, Sabotage sabotage = Sabotage::none) {
  const FreezeTrapPage page(process_id);
  if (page.get() == nullptr) throw std::runtime_error("no shared memory");
  page->sabotage = sabotage;
  TargetSession session = attach_to(process_id, "mixwalk_trapped.dll");
  do {
    const DumpRequest requests[] = {
        {.engine = Engine::snapshot},
        {.engine = Engine::copy},
        {.engine = Engine::copy, .deadline_ms = kAtOnceDeadlineMs, .at_once = true}};
    for (const DumpRequest& request : requests) {
      const auto snapshot = session.dump(request);
      if (!snapshot) throw std::runtime_error(snapshot.failure().message);
    }
  } while (page->freezes < freezes);
  const std::string left = session.leave();
  if (!left.empty()) throw std::runtime_error(left);
  return read(*page.get());
}

void expect_clean(const Visit& visit) {
  EXPECT_GE(visit.freezes, kFreezes);
  EXPECT_GT(visit.imports, 100u) << "the whole import table";
  EXPECT_THAT(visit.allowed, Contains(Key("GetThreadContext")));
  EXPECT_THAT(visit.allowed, Contains(Key("ResumeThread")));
  EXPECT_THAT(visit.forbidden, IsEmpty());
}

TEST(FreezeTrap, TorturedProgram) {
  ChildProcess torture({fixture("torture.exe"), "--seconds", "100"});
  ASSERT_TRUE(torture.read_line().value_or("").starts_with("READY"));
  expect_clean(visit(torture.id(), kFreezes));
  EXPECT_TRUE(torture.running());
}

TEST(FreezeTrap, StuckProgram) {
  ChildProcess hang({fixture("hang.exe")});
  ASSERT_TRUE(hang.read_line().value_or("").starts_with("READY"));
  expect_clean(visit(hang.id(), kFreezes));
  hang.write_line("STOP");
  EXPECT_EQ(hang.wait(20'000), 0u);
}

TEST(FreezeTrap, RandomChains) {
  ChildProcess ladder({fixture("ladder.exe"), "--seed", "7", "--chains", "1", "--threads", "8",
                       "--out", temporary_file("trap.json")});
  ASSERT_TRUE(ladder.read_line().value_or("").starts_with("PARKED"));
  expect_clean(visit(ladder.id(), kFreezes));
  ladder.write_line("");
  EXPECT_EQ(ladder.read_line().value_or("(closed)"), "DONE");
  EXPECT_EQ(ladder.wait(20'000), 0u);
}

// Checks the trap itself, because a trap that catches nothing would pass all of the cases above.
TEST(FreezeTrap, CatchesWhatIsDoneOnPurpose) {
  const std::pair<Sabotage, const char*> cases[] = {
      {Sabotage::heap, "HeapAlloc"},
      {Sabotage::crt_heap, "malloc"},
      {Sabotage::loader, "GetModuleHandleW"},
      {Sabotage::function_table, "RtlLookupFunctionEntry"},
      {Sabotage::crt, "fputs"},
      {Sabotage::srw_lock, "AcquireSRWLockExclusive"},
  };
  for (const auto& [sabotage, import] : cases) {
    ChildProcess hang({fixture("hang.exe"), "--many", "4"});
    ASSERT_TRUE(hang.read_line().value_or("").starts_with("READY"));
    const Visit seen = visit(hang.id(), 1, sabotage);
    EXPECT_GE(seen.sabotages, 4u) << import;
    EXPECT_THAT(seen.forbidden, Contains(Key(import)));
    hang.write_line("STOP");
    EXPECT_EQ(hang.wait(20'000), 0u);
  }
}

}  // namespace
}  // namespace mixwalk
