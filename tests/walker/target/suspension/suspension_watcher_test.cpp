// TerminateProcess ends a program while it has suspended threads of another program. With the watcher these threads run
// again; without the watcher they stay suspended for ever.

#include "walker/target/suspension/suspension_watcher.h"

#include <gtest/gtest.h>
#include <windows.h>

#include <string>
#include <thread>

#include "tests/builders/win/kept_ledger.h"
#include "tests/support/win/child_process.h"
#include "tests/support/win/suspend_counts.h"
#include "unmanaged/win/module_path.h"
#include "unmanaged/win/utf8.h"
#include "walker/target/suspension/suspension_ledger.h"

namespace mixwalk {
namespace {

constexpr DWORD kRunsMs = 10'000;  // the time limit for a process that has just been started, on a busy machine
constexpr DWORD kStaysMs = 500;

class Watcher : public testing::Test {
 protected:
  Watcher() : hang_({fixture("hang.exe")}) {
    EXPECT_TRUE(hang_.read_line().value_or("").starts_with("READY"));
    const auto threads = list_threads(hang_.id()).value_or(std::vector<std::uint32_t>());
    EXPECT_FALSE(threads.empty());
    if (!threads.empty()) thread_ = threads.back();
  }
  ~Watcher() override {
    EXPECT_TRUE(all_are(suspend_counts(hang_.id()), 0));
    hang_.write_line("STOP");
    EXPECT_EQ(hang_.wait(20'000), 0u);
  }

  void suspend_and_die(const std::string& how, const std::string& which) {
    ChildProcess suspender({to_utf8(module_folder(nullptr)) + "suspender.exe", how, std::to_string(hang_.id()), which});
    ASSERT_EQ(suspender.read_line().value_or(""), "STANDS");
    EXPECT_FALSE(all_are(suspend_counts(hang_.id()), 0));
    suspender.terminate();
  }
  UniqueHandle open() const { return UniqueHandle(OpenThread(THREAD_SUSPEND_RESUME, FALSE, thread_)); }

  ChildProcess hang_;
  std::uint32_t thread_ = 0;
};

TEST_F(Watcher, OneThreadRunsAgain) {
  suspend_and_die("watched", std::to_string(thread_));
  EXPECT_TRUE(all_run_within(hang_.id(), kRunsMs));
}

TEST_F(Watcher, AllThreadsRunAgain) {
  suspend_and_die("watched", "all");
  EXPECT_TRUE(all_run_within(hang_.id(), kRunsMs));
}

TEST_F(Watcher, WhatTheWriterHadSuspendedRunsAgain) {
  suspend_and_die("watched", "written");
  EXPECT_TRUE(all_run_within(hang_.id(), kRunsMs));
}

TEST_F(Watcher, WhatTheWriterHadSuspendedRunsAgainAfterCtrlC) {
  suspend_and_die("watched", "cancelled");
  EXPECT_TRUE(all_run_within(hang_.id(), kRunsMs));
}

TEST_F(Watcher, WithoutOneTheThreadStands) {
  suspend_and_die("alone", std::to_string(thread_));
  EXPECT_FALSE(all_run_within(hang_.id(), kStaysMs));
  ResumeThread(open().get());
}

TEST_F(Watcher, WhatTheProgramHasSuspendedItselfStays) {
  SuspendThread(open().get());
  suspend_and_die("watched", std::to_string(thread_));
  const ULONGLONG end = GetTickCount64() + kRunsMs;
  while (suspend_count(thread_) > 1 && GetTickCount64() < end) Sleep(20);
  EXPECT_EQ(suspend_count(thread_), 1u);
  Sleep(kStaysMs);
  EXPECT_EQ(suspend_count(thread_), 1u);
  ResumeThread(open().get());
}

// Entries of this process, as a watcher finds them after mixwalk.exe has ended.
class Ledger : public Watcher {
 protected:
  SuspensionLedger& ledger() { return *ledger_; }
  // Suspends the thread, and returns the entry of that.
  SuspensionEntry suspension() {
    SuspensionEntry entry;
    entry.begin(thread_);
    entry.set_suspended(SuspendThread(open().get()));
    return entry;
  }
  // Returns the entry of a suspension that comes after that of another program.
  SuspensionEntry second_suspension() {
    SuspendThread(open().get());
    return suspension();
  }
  // Returns how many threads were resumed.
  std::size_t resumed_though_writer_has_suspended() {
    set_writer_at_work(true);
    SuspendThread(open().get());
    return resume_all(ledger());
  }

 private:
  const KeptLedger ledger_{hang_.id()};
};

// mixwalk.exe ended just before SuspendThread, so there is no suspension of ours to undo.
TEST_F(Ledger, EntryOfAThreadThatWasNotSuspendedYet) {
  SuspensionEntry entry;
  entry.begin(thread_);
  EXPECT_EQ(resume_all(ledger()), 0u);
  SuspendThread(open().get());
  entry.set_suspended(0);
  ledger().process_id = GetCurrentProcessId();  // the id now belongs to another process
  EXPECT_EQ(resume_all(ledger()), 0u);
  EXPECT_EQ(suspend_count(thread_), 1u);
  ledger().process_id = hang_.id();
  EXPECT_EQ(resume_all(ledger()), 1u);
  entry.end();
  EXPECT_EQ(resume_all(ledger()), 0u);
}

// When mixwalk.exe suspended the thread, another program or the runtime had suspended it already, and has resumed it
// since.
TEST_F(Ledger, EntryOfAThreadThatAnotherOneLetGo) {
  second_suspension();
  ResumeThread(open().get());
  EXPECT_EQ(suspend_count(thread_), 1u);
  EXPECT_EQ(resume_all(ledger()), 1u);
  EXPECT_EQ(suspend_count(thread_), 0u);
}

// mixwalk.exe ended while MiniDumpWriteDump had suspended the thread as well.
TEST_F(Ledger, EntryOfAThreadThatTheWriterHasSuspendedToo) {
  suspension();
  EXPECT_EQ(resumed_though_writer_has_suspended(), 1u);
  EXPECT_EQ(suspend_count(thread_), 0u);
}

// The same, and another program had suspended the thread before mixwalk.exe, and has resumed it since.
TEST_F(Ledger, EntryOfAThreadThatAnotherOneLetGoBeforeTheWriter) {
  SuspensionEntry entry = second_suspension();
  ResumeThread(open().get());
  entry.lower_count(0);
  EXPECT_EQ(resumed_though_writer_has_suspended(), 1u);
  EXPECT_EQ(suspend_count(thread_), 0u);
}

// The same, and another program suspends the thread when the count is looked at again.
TEST_F(Ledger, CountOfAnEntryIsNeverRaised) {
  SuspensionEntry entry = suspension();
  entry.lower_count(1);
  EXPECT_EQ(resumed_though_writer_has_suspended(), 1u);
  EXPECT_EQ(suspend_count(thread_), 0u);
}

// mixwalk.exe ended after Ctrl-C, and the runtime has just suspended the thread for a moment, as it does for a GC.
TEST_F(Ledger, EntryOfAThreadThatTheProgramSuspendsForAMoment) {
  SuspensionEntry entry = suspension();
  entry.resumes();
  ResumeThread(open().get());
  set_writer_at_work(true);
  SuspendThread(open().get());
  DWORD before = 0;
  std::thread runtime([&] {
    Sleep(100);
    before = ResumeThread(open().get());
  });
  EXPECT_EQ(resume_all(ledger(), 3'000), 0u);
  runtime.join();
  EXPECT_EQ(before, 1u) << "the watcher resumed the thread too";
}

// mixwalk.exe ended just before, or just after, its own ResumeThread, after Ctrl-C.
TEST_F(Ledger, EntryOfAThreadThatTheWriterHasSuspendedTooAndThatWasJustResumed) {
  for (const bool resumed : {false, true}) {
    SuspensionEntry entry = suspension();
    entry.resumes();
    if (resumed) ResumeThread(open().get());
    EXPECT_EQ(resumed_though_writer_has_suspended(), 1u);
    EXPECT_EQ(suspend_count(thread_), 0u);
    entry.end();
  }
}

// The writer had not suspended the thread, but another program had, before mixwalk.exe.
TEST_F(Ledger, EntryOfAThreadThatTheWriterHasNotSuspendedYet) {
  second_suspension();
  set_writer_at_work(true);
  EXPECT_EQ(resume_all(ledger()), 1u);
  EXPECT_EQ(suspend_count(thread_), 1u);
  ResumeThread(open().get());
}

// Without a writer, a suspension that came later belongs to another program.
TEST_F(Ledger, EntryOfAThreadThatAnotherOneHasSuspendedSince) {
  suspension();
  set_writer_at_work(true);
  set_writer_at_work(false);
  SuspendThread(open().get());
  EXPECT_EQ(resume_all(ledger()), 1u);
  EXPECT_EQ(suspend_count(thread_), 1u);
  ResumeThread(open().get());
}

// mixwalk.exe ended directly after ResumeThread. The suspension by another program must stay.
TEST_F(Ledger, EntryOfAThreadThatWasJustResumed) {
  SuspensionEntry entry = second_suspension();
  entry.resumes();
  ResumeThread(open().get());
  EXPECT_EQ(resume_all(ledger()), 0u);
  EXPECT_EQ(suspend_count(thread_), 1u);
  ResumeThread(open().get());
}

}  // namespace
}  // namespace mixwalk
