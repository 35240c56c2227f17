// A program that mixwalk watches must end as it would without mixwalk. It ends in five ways under a recording of 1 ms,
// with mixwalk.dll's threads ended or suspended by the program, and with the loader lock held for ever.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <future>
#include <vector>

#include "tests/end_to_end/session.h"
#include "tests/support/win/child_process.h"
#include "walker/base/exit_code.h"

namespace mixwalk {
namespace {

using testing::HasSubstr;

constexpr ULONGLONG kHangMs = 30'000;

// How often the program ends in each way with mixwalk, and in a longer run as often without. MIXWALK_ENDS=300 for more.
int times() { return wanted("MIXWALK_ENDS", 3, 1); }
// With fewer ends, two that a busy machine made slow would decide the median.
constexpr int kEnoughForAMedian = 20;

RecordRequest every_millisecond() {
  return {.sampling = {.probe = ProbePolicy::never}, .period_ns = 1'000'000};
}

// For threads that are stopped in the middle of a walk: in DoStackSnapshot the CLR may hold locks of its own.
RecordRequest copies_every_millisecond() {
  RecordRequest request = every_millisecond();
  request.sampling.engine = Engine::copy;
  return request;
}

// A recording of a program, made with the classes of mixwalk.exe; it is running when the constructor returns.
class Recorded {
 public:
  Recorded(const ChildProcess& program, const RecordRequest& request)
      : session_(attach_to(program.id())) {
    EXPECT_FALSE(session_.begin_record(request));
    RecordedBytes bytes;
    // When the first chunk has come, every thread has been sampled.
    const ULONGLONG end = GetTickCount64() + kHangMs;
    while (GetTickCount64() < end) {
      const auto next = session_.next(100, bytes);
      if (!next || *next == TargetSession::Next::bytes) return;
    }
  }
  // Collects until the recording ends, and returns the reason. Returns nothing if the program and the recording hang.
  std::optional<Failure> to_its_end() {
    RecordedBytes bytes;
    const ULONGLONG end = GetTickCount64() + kHangMs;
    while (GetTickCount64() < end) {
      const auto next = session_.next(100, bytes);
      if (!next) return next.failure();
    }
    return std::nullopt;
  }
  int given_back() const { return session_.given_back(); }

 private:
  TargetSession session_;
};

struct End {
  std::optional<DWORD> code;  // nothing if the program hangs
  std::string out;
  ULONGLONG ms = 0;
  int given_back = 0;
};

End end_of(const std::string& way, bool recorded) {
  ChildProcess program({fixture("ends.exe"), "--way", way, "--wait"});
  EXPECT_TRUE(program.read_line().value_or("").starts_with("READY"));
  std::optional<Recorded> recording;
  if (recorded) recording.emplace(program, every_millisecond());
  End end;
  const ULONGLONG begun = GetTickCount64();
  program.write_line("END");
  if (recorded) {
    const auto why = recording->to_its_end();
    EXPECT_TRUE(why && why->code == ExitCode::target_exited) << (why ? why->message : "no end");
  }
  end.code = program.wait(kHangMs);
  end.ms = GetTickCount64() - begun;
  if (recorded) end.given_back = recording->given_back();
  if (end.code) end.out = program.read_rest();
  return end;
}

ULONGLONG median(std::vector<ULONGLONG> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class Ends : public testing::TestWithParam<const char*> {};

TEST_P(Ends, AsWithoutMixwalk) {
  const std::string way = GetParam();
  std::vector<ULONGLONG> with, without;
  int given_back = 0, hung = 0;
  End expected;
  for (int i = 0; i < times(); ++i) {
    if (i == 0 || times() >= kEnoughForAMedian) {
      expected = end_of(way, false);
      ASSERT_TRUE(expected.code);
      without.push_back(expected.ms);
    }
    const End end = end_of(way, true);
    EXPECT_EQ(end.code, expected.code) << "run " << i;
    EXPECT_EQ(end.out, expected.out) << "run " << i;
    hung += !end.code;
    with.push_back(end.ms);
    given_back += end.given_back;
  }
  std::printf(
      "%s, %d times each: median %llu ms without, %llu ms with (max %llu, %llu); %d hung, %d "
      "suspensions given back from outside\n",
      way.c_str(), times(), median(without), median(with),
      *std::max_element(without.begin(), without.end()),
      *std::max_element(with.begin(), with.end()), hung, given_back);
  if (times() >= kEnoughForAMedian) {
    EXPECT_LT(median(with), median(without) + 500);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, Ends,
                         testing::Values("native", "environment", "failfast", "terminate", "main"),
                         [](const auto& info) { return std::string(info.param); });

// When our threads were stopped, they had suspended other threads. These suspensions are undone from outside. After
// that, all of the program's own threads reach their end, and so does the program.
void stop_foreign_threads(const std::string& how, const std::vector<std::string>& ways) {
  for (const std::string& way : ways) {
    SCOPED_TRACE(how + ", " + way);
    ChildProcess program({fixture("ends.exe"), "--way", way, "--wait"});
    ASSERT_TRUE(program.read_line().value_or("").starts_with("READY"));
    Recorded recording(program, copies_every_millisecond());
    auto end = std::async(std::launch::async, [&] { return recording.to_its_end(); });
    program.write_line(how);
    EXPECT_EQ(program.read_line(), "DONE " + how);
    const ULONGLONG begun = GetTickCount64();
    while (recording.given_back() == 0 && GetTickCount64() - begun < kHangMs) Sleep(10);
    EXPECT_GE(recording.given_back(), 1);
    program.write_line("JOIN");
    EXPECT_EQ(program.read_line(), "DONE JOIN");
    program.write_line("END");
    EXPECT_EQ(program.wait(kHangMs), way == "main" ? 45u : 41u);
    const auto why = end.get();
    EXPECT_TRUE(why) << "the recording hangs";
  }
}

TEST(ForeignThreads, AreEndedByTheProgram) {
  stop_foreign_threads("TERMINATE", {"main", "native"});
}
// If mixwalk.dll has claimed a thread of the program when its own threads are suspended, that thread ends 10 s late.
TEST(ForeignThreads, AreSuspendedByTheProgramForGood) {
  stop_foreign_threads("SUSPEND", {"native"});
}

TEST(ForeignThreads, AreEndedAndTheProgramLivesOn) {
  ChildProcess program({fixture("ends.exe"), "--way", "main", "--wait"});
  ASSERT_TRUE(program.read_line().value_or("").starts_with("READY"));
  Recorded recording(program, copies_every_millisecond());
  program.write_line("TERMINATE");
  EXPECT_EQ(program.read_line(), "DONE TERMINATE");
  const auto why = recording.to_its_end();
  ASSERT_TRUE(why) << "nobody is left who would write to the pipe, and it stays open";
  EXPECT_EQ(why->code, ExitCode::refused);
  EXPECT_THAT(why->message, HasSubstr("was ended by somebody else"));
  program.write_line("END");
  EXPECT_EQ(program.wait(kHangMs), 45u);
}

TEST(LoaderLock, HeldForGoodEndsTheVisitWithAWord) {
  ChildProcess program({fixture("ends.exe"), "--way", "main", "--wait"});
  ASSERT_TRUE(program.read_line().value_or("").starts_with("READY"));
  {
    TargetSession session = attach_to(program.id());
    program.write_line("LOCK");
    ASSERT_EQ(program.read_line(), "DONE LOCK");
    const auto snapshot = session.dump({.start_ms = 3'000});
    ASSERT_FALSE(snapshot) << "a supervisor cannot run: nothing may be frozen";
    EXPECT_EQ(snapshot.failure().code, ExitCode::refused);
    EXPECT_THAT(snapshot.failure().message, HasSubstr("its loader lock is held"));
  }
  program.write_line("UNLOCK");
  EXPECT_EQ(program.read_line(), "DONE UNLOCK");
  // The threads that were suspended have ended, and mixwalk.dll has left.
  const ProgramResult next = run_until_let_in({"dump", "-p", std::to_string(program.id())});
  EXPECT_EQ(next.exit_code, 0u) << next.err;
  program.write_line("END");
  EXPECT_EQ(program.wait(kHangMs), 45u);
}

}  // namespace
}  // namespace mixwalk
