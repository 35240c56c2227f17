// Threads whose callers cannot be found from the top of their stack (fixtures/lost_frames). No frame may be invented,
// no stack may be called whole that is not, and every walk must end.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/end_to_end/dumped_threads.h"
#include "tests/end_to_end/recorded_file.h"
#include "tests/end_to_end/session.h"
#include "tests/support/win/child_process.h"
#include "walker/model/stack.h"

namespace mixwalk {
namespace {

struct Situation {
  const char* name;
  bool whole;         // whether all of the thread's callers can be known
  const char* frame;  // a frame that must be shown
};

constexpr Situation kSituations[] = {
    {"left_over", false, ""},
    {"zero", false, ""},
    {"crafted", false, ""},
    {"foreign_code", false, ""},
    {"null_call", true, "lost_stand"},
    {"jump_to_itself", true, "lost_stand"},
    {"chained_to_itself", false, ""},
    {"registered", true, "lost_stand"},  // code with unwind data that the program has registered with the system
    {"apc", true, "lost_stand"},     // inside an asynchronous procedure call
    {"window", true, "lost_stand"},  // in a window procedure that the system called
};

// How often both threads of each situation are dumped, by each engine in turn.
int dumps() { return wanted("MIXWALK_LOST_FRAMES_DUMPS", 3, 1); }

bool shows(const Thread& thread, std::string_view part) {
  return std::ranges::any_of(thread.stack.frames, [&](const Frame& frame) {
    return frame.name.find(part) != std::string::npos;
  });
}

class LostFramesProgram : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    program_ = new ChildProcess({fixture("lost_frames.exe")});
    const auto line = program_->read_line();
    ready_ = line && line->starts_with("READY");
  }
  static void TearDownTestSuite() {
    program_->write_line("STOP");
    EXPECT_EQ(program_->wait(20'000), 0u);
    delete program_;
    program_ = nullptr;
  }

  // The program prints the names of the threads before these have arrived at their places. A stack without a frame does
  // not show where its thread is.
  static void wait_until_both_stand(TargetSession& session, DumpRequest request) {
    request.engine = Engine::copy;
    const ULONGLONG end = GetTickCount64() + 30'000;
    std::vector<std::uint64_t> before;
    for (int same = 0; same < 5; Sleep(20)) {
      ASSERT_LT(GetTickCount64(), end) << "a thread never stands still";
      const Snapshot snapshot = dump_named(session, request);
      std::vector<std::uint64_t> tops;
      for (const std::uint32_t id : request.thread_ids) {
        const Thread& thread = thread_of(snapshot, id);
        if (!thread.stack.frames.empty()) tops.push_back(thread.stack.frames.front().stack_pointer);
      }
      same = tops.size() == request.thread_ids.size() && tops == before ? same + 1 : 0;
      before = std::move(tops);
    }
  }

  static ChildProcess* program_;
  static bool ready_;
};
ChildProcess* LostFramesProgram::program_ = nullptr;
bool LostFramesProgram::ready_ = false;

class LostFrames : public LostFramesProgram, public testing::WithParamInterface<Situation> {};
class LostFramesOfARuntimeWait : public LostFramesProgram {};

TEST_P(LostFrames, ShowOnlyWhatIsKnown) {
  ASSERT_TRUE(ready_);
  const Situation& situation = GetParam();
  program_->write_line(situation.name);
  unsigned managed = 0, native = 0;
  const auto line = program_->read_line();
  ASSERT_TRUE(line);
  ASSERT_EQ(std::sscanf(line->c_str(), "STANDS %u %u", &managed, &native), 2) << *line;
  int invented = 0, whole = 0, threads = 0;
  {
    TargetSession session = attach_to(program_->id());
    DumpRequest request;
    request.thread_ids = {managed, native};
    request.deadline_ms = 5000;  // so that a busy machine does not make the test fail
    wait_until_both_stand(session, request);
    if (HasFatalFailure()) return;
    for (int i = 0; i < dumps(); ++i) {
      request.engine = std::array{Engine::snapshot, Engine::copy, Engine::automatic}[i % 3];
      const Snapshot snapshot = dump_named(session, request);
      for (const unsigned id : {managed, native}) {
        const Thread& thread = thread_of(snapshot, id);
        ASSERT_EQ(thread.skipped, "");
        const std::string text = to_text(snapshot, thread);
        ++threads;
        const bool is_invented = shows(thread, "invented") || shows(thread, "Invented");
        invented += is_invented;
        EXPECT_FALSE(is_invented) << text;
        whole += thread.stack.whole();
        EXPECT_EQ(thread.stack.whole(), situation.whole) << text;
        if (*situation.frame != '\0') {
          EXPECT_TRUE(shows(thread, situation.frame)) << text;
        }
        // The frames that the CLR knows are shown, whatever is at the top of the thread's stack.
        if (id == managed && thread.stack.engine == Engine::snapshot) {
          EXPECT_TRUE(shows(thread, "LostFrames.Program.Stand")) << text;
        }
      }
    }
  }
  // From outside the same is known.
  const nlohmann::json dump = dump_as_json(
      program_->id(), {"--outside", "--thread", std::to_string(managed), "--thread", std::to_string(native)});
  for (const unsigned id : {managed, native}) {
    const nlohmann::json* const thread = dumped_thread(dump, id);
    ASSERT_NE(thread, nullptr);
    const std::vector<std::string> frames = dumped_frames(dump, *thread, Rvas::left_out);
    EXPECT_EQ(thread->at("whole"), situation.whole) << testing::PrintToString(frames);
    EXPECT_THAT(frames, testing::Not(testing::Contains(testing::HasSubstr("nvented"))));
    EXPECT_THAT(frames, testing::Contains(testing::HasSubstr(situation.frame)));
  }
  program_->write_line("");
  EXPECT_EQ(program_->read_line(), "GONE");
  std::printf("%s: %d stacks, %d with an invented frame, %d called whole\n", situation.name, threads,
              invented, whole);
}

// How often a probe may fail in a row.
constexpr int kPatience = 30;

// The thread waits in the runtime, so the runtime is not asked at first. But the copy of its stack does not lead to its
// root, or leads there only by a guess, since a caller has no unwind data. So the thread is frozen once more, and the
// runtime knows the frames beyond.
TEST_F(LostFramesOfARuntimeWait, AutoAsksTheRuntimeWhereTheCopyDoesNotReachTheRoot) {
  ASSERT_TRUE(ready_);
  program_->write_line("WAIT");
  unsigned id = 0;
  const auto line = program_->read_line();
  ASSERT_TRUE(line);
  ASSERT_EQ(std::sscanf(line->c_str(), "WAITS %u", &id), 1) << *line;
  {
    TargetSession session = attach_to(program_->id());
    DumpRequest request;
    request.thread_ids = {id};
    request.deadline_ms = 5000;
    wait_until_both_stand(session, request);
    if (HasFatalFailure()) return;
    request.engine = Engine::copy;
    const Snapshot by_copy = dump_named(session, request);
    EXPECT_FALSE(thread_of(by_copy, id).stack.whole()) << to_text(by_copy, thread_of(by_copy, id));
    request.engine = Engine::automatic;
    Snapshot by_auto = dump_named(session, request);
    // On a busy machine the canary's worker may not run in time, and then the runtime is not asked.
    for (int i = 0; i < kPatience && thread_of(by_auto, id).probe == ProbeResult::failed; ++i) {
      by_auto = dump_named(session, request);
    }
    const Thread& thread = thread_of(by_auto, id);
    EXPECT_TRUE(shows(thread, "LostFrames.Program.CallWait")) << to_text(by_auto, thread);
    EXPECT_TRUE(shows(thread, "LostFrames.Program.Wait"));
    EXPECT_EQ(thread.stack.engine, Engine::snapshot);
    EXPECT_NE(thread.probe, ProbeResult::none);
  }
  // A recording knows that the thread has not moved since it was copied, and asks the runtime nevertheless. Samples
  // whose probe failed have the copy's frames only. There must be other samples, whose managed frames the runtime
  // reported.
  const std::string file = temporary_file("waits.mixwalk");
  std::ptrdiff_t asked = 0;
  for (int i = 0; i < kPatience && asked < 2; ++i) {
    const ProgramResult recorded =
        run_program({mixwalk_exe(), "record", "-p", std::to_string(program_->id()), "--thread",
                     std::to_string(id), "-d", "1s", "-o", file});
    ASSERT_EQ(recorded.exit_code, 0u) << recorded.err;
    const Recording recording = read_whole(file);
    asked = std::ranges::count_if(recording.samples, [&](const Recording::Sample& sample) {
      return std::ranges::any_of(stack_frames(recording, sample.stack), [&](std::uint32_t index) {
        const Frame& frame = recording.frames[index];
        return frame.name == "LostFrames.Program.Wait()" && frame.trust == Trust::runtime;
      });
    });
    remove_file(file);
  }
  EXPECT_GE(asked, 2);
  program_->write_line("");
  EXPECT_EQ(program_->read_line(), "GONE");
}

INSTANTIATE_TEST_SUITE_P(
    Situations, LostFrames, testing::ValuesIn(kSituations),
    [](const auto& situation) { return std::string(situation.param.name); });

}  // namespace
}  // namespace mixwalk
