// mixwalk.dll in a program without memory: each of its allocations fails in turn, alone and with all
// that follow. The program lives and ends with its own code; the visitor gets a whole result or a
// clear word, in time.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "tests/end_to_end/session.h"
#include "tests/support/win/child_process.h"
#include "tests/support/win/starve_page.h"
#include "unmanaged/win/utf8.h"
#include "walker/cli/exit_code.h"

namespace mixwalk {
namespace {

constexpr std::uint32_t kTimeoutMs = 10'000;
constexpr std::uint64_t kAllOn = UINT64_MAX;

enum class Visit { dump, record, exceptions };

std::optional<Failure> dump(DumpSession& session) {
  auto snapshot = session.dump({});
  if (!snapshot) return snapshot.failure();
  return std::nullopt;
}

std::optional<Failure> record(DumpSession& session, const RecordRequest& request) {
  if (auto failure = session.begin_record(request)) return failure;
  const ULONGLONG begun = GetTickCount64();
  bool stopping = false;
  while (true) {
    RecordedBytes bytes;
    const auto next = session.next(20, bytes);
    if (!next) return next.failure();
    if (*next == DumpSession::Next::done) return std::nullopt;
    if (!stopping && GetTickCount64() - begun > 250) session.stop_record(), stopping = true;
    if (GetTickCount64() - begun > kTimeoutMs) {
      return Failure{ExitCode::timeout, "the recording did not end"};
    }
  }
}

// One visit by mixwalk_starved.dll. Nothing: all went well.
std::optional<Failure> visit(const ChildProcess& process, Visit kind) {
  std::string dll = mixwalk_exe();
  dll.replace(dll.rfind('\\') + 1, std::string::npos, "mixwalk_starved.dll");
  const ULONGLONG end = GetTickCount64() + 2 * kTimeoutMs;
  while (true) {
    auto target = find_target(process.id());
    if (!target) return target.failure();
    auto session = DumpSession::attach(std::move(*target), to_utf16(dll), kTimeoutMs);
    // The visit before may still be leaving.
    if (!session && session.failure().code == ExitCode::already_profiled && GetTickCount64() < end) {
      continue;
    }
    if (!session) return session.failure();
    std::optional<Failure> failure;
    switch (kind) {
      case Visit::dump: failure = dump(*session); break;
      case Visit::record: failure = record(*session, {.period_ns = 5'000'000}); break;
      case Visit::exceptions: failure = record(*session, {.event = SampleEvent::exception}); break;
    }
    if (!failure) session->leave();
    return failure;
  }
}

// A time-out is none: an agent that hangs would have it, too.
bool is_clear(ExitCode code) {
  return code == ExitCode::no_memory || code == ExitCode::refused;
}

// Every visit to one program, with allocations that fail at so many places of it.
void starve(const ChildProcess& process, Visit kind) {
  const StarvePage page(process.id());
  ASSERT_NE(page.get(), nullptr);
  page->first = 0;
  ASSERT_FALSE(visit(process, kind)) << "with all memory there is";
  page->count = 0;
  ASSERT_FALSE(visit(process, kind));
  const std::uint64_t all = page->count;
  ASSERT_GT(all, 50u) << "it does not count";
  const auto places = static_cast<std::uint64_t>(wanted("MIXWALK_STARVED_PLACES", 5, 2));
  std::map<std::string, int> words;
  std::uint64_t visits = 0, failed = 0;
  for (const bool all_on : {false, true}) {
    // The first ones, of the attach, are a place each; the rest are sampled.
    const std::uint64_t step = std::max<std::uint64_t>(1, all / places);
    for (std::uint64_t n = 1; n <= all; n += n < places ? 1 : step) {
      page->count = page->failed = 0;
      page->last = all_on ? kAllOn : n;
      page->first = n;
      const ULONGLONG begun = GetTickCount64();
      const auto failure = visit(process, kind);
      page->first = 0;
      ++visits;
      failed += page->failed != 0;
      if (failure) {
        std::printf("  %llu%s of %llu: %s\n", n, all_on ? " and all that follow" : "", all,
                    failure->message.c_str());
        std::fflush(stdout);
      }
      ++words[failure ? failure->message.substr(failure->message.find(')') + 1) : "whole"];
      ASSERT_TRUE(process.running()) << "allocation " << n << (all_on ? " and all that follow" : "");
      EXPECT_LT(GetTickCount64() - begun, 3 * kTimeoutMs) << n;
      EXPECT_TRUE(!failure || is_clear(failure->code)) << n << ": " << failure->message;
    }
  }
  EXPECT_GT(failed, 0u);
  std::printf("%llu allocations, %llu visits, %llu with a failed one\n", all, visits, failed);
  for (const auto& [word, times] : words) std::printf("  %d times: %s\n", times, word.c_str());
  EXPECT_FALSE(visit(process, kind)) << "with all memory there is again";
}

void starve_hang(Visit kind) {
  ChildProcess hang({fixture("hang.exe")});
  ASSERT_TRUE(hang.read_line().value_or("").starts_with("READY"));
  starve(hang, kind);
  hang.write_line("STOP");
  EXPECT_EQ(hang.wait(20'000), 0u);
}

TEST(Starved, ADump) { starve_hang(Visit::dump); }
TEST(Starved, ARecording) { starve_hang(Visit::record); }

TEST(Starved, ExceptionsThatAreRecorded) {
  ChildProcess events({fixture("events.exe"), "--rounds", "100000000", "--threads", "2"});
  ASSERT_EQ(events.read_line().value_or("(closed)"), "READY");
  events.write_line("GO");
  starve(events, Visit::exceptions);
}

// From its first callback to its last: everything fails in between, and nothing of it is seen.
TEST(Starved, AProgramToItsEnd) {
  ChildProcess events({fixture("events.exe"), "--rounds", "2000", "--threads", "2"});
  ASSERT_EQ(events.read_line().value_or("(closed)"), "READY");
  const StarvePage page(events.id());
  ASSERT_NE(page.get(), nullptr);
  DumpSession session = attach_to(events.id(), "mixwalk_starved.dll");
  ASSERT_FALSE(session.begin_record({.event = SampleEvent::exception}));
  page->last = kAllOn;
  page->first = 1;
  events.write_line("GO");
  EXPECT_EQ(events.read_line().value_or("(closed)"), "DONE 4000");
  EXPECT_GT(page->failed, 0u);
  events.close_input();
  EXPECT_EQ(events.wait(30'000), 0u);
}

// Every malloc of the DLL sets the last error: each callback that allocates would change that
// of the program, which asks for it right behind.
TEST(LastError, IsThatOfTheProgram) {
  ChildProcess events({fixture("events.exe"), "--rounds", "500", "--last-error"});
  ASSERT_EQ(events.read_line().value_or("(closed)"), "READY");
  const StarvePage page(events.id());
  ASSERT_NE(page.get(), nullptr);
  page->spoil_last_error = 0xDEAD;
  DumpSession session = attach_to(events.id(), "mixwalk_starved.dll");
  ASSERT_FALSE(session.begin_record({.event = SampleEvent::exception}));
  // Its first bytes come when exceptions are recorded.
  RecordedBytes bytes;
  auto next = session.next(kTimeoutMs, bytes);
  ASSERT_TRUE(next && *next == DumpSession::Next::bytes);
  const std::uint64_t before = page->count;
  events.write_line("GO");
  EXPECT_EQ(events.read_line().value_or("(closed)"), "DONE 500, last error changed 0 times");
  EXPECT_GE(page->count - before, 1000u) << "a callback for each of two exceptions a round";
  session.stop_record();
  events.close_input();
  EXPECT_EQ(events.wait(30'000), 0u);
}

// The control: without us.
TEST(LastError, IsThatOfTheProgramWithoutUs) {
  ChildProcess events({fixture("events.exe"), "--rounds", "500", "--last-error"});
  ASSERT_EQ(events.read_line().value_or("(closed)"), "READY");
  events.write_line("GO");
  EXPECT_EQ(events.read_line().value_or("(closed)"), "DONE 500, last error changed 0 times");
}

}  // namespace
}  // namespace mixwalk
