// Threads that other code than the runtime starts, ends and suspends: fixtures/threads. MIXWALK_FOREIGN_THREADS_SECONDS
// sets the seconds of each recording, for longer runs.

#include <gtest/gtest.h>

#include "tests/end_to_end/session.h"
#include "tests/support/win/child_process.h"
#include "walker/suspended/refusal.h"

namespace mixwalk {
namespace {

std::string seconds() {
  return std::to_string(wanted("MIXWALK_FOREIGN_THREADS_SECONDS", 2, 1)) + "s";
}

// The program, which checks itself: its last line begins with OK if all is well.
class Threads {
 public:
  explicit Threads(std::vector<std::string> options)
      : program_((options.insert(options.begin(), {fixture("threads.exe"), "--situation"}),
                  options)) {
    EXPECT_TRUE(program_.read_line().value_or("").starts_with("READY"));
  }
  std::uint32_t id() const { return program_.id(); }
  void expect_unharmed() {
    program_.write_line("STOP");
    const std::string result = program_.read_line().value_or("(closed)");
    EXPECT_TRUE(result.starts_with("OK ")) << result;
    EXPECT_EQ(program_.wait(30'000), 0u);
    std::printf("%s\n", result.c_str());
  }

 private:
  ChildProcess program_;
};

void record(std::uint32_t process_id, std::vector<std::string> options) {
  const std::string file = temporary_file("foreign_threads.mixwalk");
  options.insert(options.begin(), {mixwalk_exe(), "record", "-p", std::to_string(process_id), "-i",
                                   "1ms", "--budget", "0", "-d", seconds(), "-o", file});
  const ProgramResult result = run_program(options, 3'600'000);
  EXPECT_EQ(result.exit_code, 0u) << result.err;
  remove_file(file);
}

// The runtime detaches a thread that it did not create in the thread's end notification, and forgets it much later,
// when its finalizer has time. The program prints the same line without mixwalk.
TEST(ForeignThreads, EndSlowlyWhileTheyAreRecorded) {
  for (const char* probe : {"never", "risk", "always"}) {
    SCOPED_TRACE(probe);
    Threads threads({"spawn", "--busy-finalizer", "50"});
    record(threads.id(), {"--engine", "snapshot", "--probe", probe});
    threads.expect_unharmed();
  }
}

TEST(ForeignThreads, ADetachedThreadIsWalkedFromItsCopyAndSaysWhy) {
  // Threads are started one at a time. Each lives long enough for a dump to meet it between its list of threads and its
  // walk.
  Threads threads({"spawn", "--busy-finalizer", "500", "--spawners", "1", "--detach-ms", "200"});
  TargetSession session = attach_to(threads.id());
  std::size_t detached = 0;
  for (int i = 0; i < 200 && detached == 0; ++i) {
    const Snapshot snapshot = dump_named(session, {});
    for (const Thread& thread : snapshot.threads) {
      if (thread.stack.refusal != kThreadDetached) continue;
      ++detached;
      EXPECT_EQ(thread.stack.engine, Engine::copy);
      EXPECT_FALSE(thread.stack.frames.empty());
    }
  }
  EXPECT_NE(detached, 0u);
  EXPECT_EQ(session.leave(), "");
  threads.expect_unharmed();
}

// The program suspends a thread of its own, 60,000 frames deep. The thread must not run until the program resumes it,
// and the program's ResumeThread must find a suspended thread.
TEST(ForeignThreads, SuspendedByTheProgramStaySuspended) {
  for (const char* deadline : {"50ms", "10ms", "1ms"}) {
    SCOPED_TRACE(deadline);
    Threads threads({"suspend"});
    record(threads.id(), {"--deadline", deadline});
    threads.expect_unharmed();
  }
}

TEST(ForeignThreads, SuspendedByTheProgramAreOnlyCopied) {
  Threads threads({"suspend", "--frames", "100", "--hold-ms", "200"});
  TargetSession session = attach_to(threads.id());
  std::size_t suspended = 0;
  for (int i = 0; i < 50 && suspended == 0; ++i) {
    // On a busy machine, a copy that came too late has no frames.
    const Snapshot snapshot =
        dump_named(session, {.deadline_ms = 5000, .probe = ProbePolicy::always});
    const Thread& thread = thread_named(snapshot, "counting");
    EXPECT_TRUE(thread.stack.whole()) << to_text(snapshot, thread);
    if (thread.stack.refusal != kThreadSuspended) continue;
    ++suspended;
    EXPECT_EQ(thread.probe, ProbeResult::none);
    EXPECT_EQ(thread.stack.engine, Engine::copy);
  }
  EXPECT_NE(suspended, 0u);
  EXPECT_EQ(session.leave(), "");
  threads.expect_unharmed();
}

}  // namespace
}  // namespace mixwalk
