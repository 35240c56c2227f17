// mixwalk.dll runs in a program without memory. At each place where mixwalk.dll allocates, an allocation fails, first
// alone and then with all that follow. The program must continue and end with its own code; the visitor must get a
// whole result or a clear error, in time.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/end_to_end/session.h"
#include "tests/support/win/child_process.h"
#include "tests/support/win/starve_page.h"
#include "unmanaged/win/utf8.h"
#include "walker/base/exit_code.h"

namespace mixwalk {
namespace {

constexpr std::uint32_t kTimeoutMs = 10'000;
constexpr ULONGLONG kRecordMs = 250;  // more than one flush of the recorder

enum class Visit { dump, record, exceptions, types, modules };

std::optional<Failure> dump(TargetSession& session) {
  auto snapshot = session.dump({});
  if (!snapshot) return snapshot.failure();
  EXPECT_FALSE(snapshot->threads.empty()) << "a dump of nothing, without a word";
  return std::nullopt;
}

std::optional<Failure> record(TargetSession& session, const RecordRequest& request) {
  if (auto failure = session.begin_record(request)) return failure;
  const ULONGLONG begun = GetTickCount64();
  bool stopping = false;
  while (true) {
    RecordedBytes bytes;
    const auto next = session.next(20, bytes);
    if (!next) return next.failure();
    if (*next == TargetSession::Next::done) return std::nullopt;
    if (!stopping && GetTickCount64() - begun > kRecordMs) session.stop_record(), stopping = true;
    if (GetTickCount64() - begun > kTimeoutMs) {
      return Failure{ExitCode::timeout, "the recording did not end"};
    }
  }
}

// Makes one visit by mixwalk_starved.dll. Returns nothing if all went well.
std::optional<Failure> visit(const ChildProcess& process, Visit kind) {
  const std::string dll = beside("mixwalk_starved.dll");
  const ULONGLONG end = GetTickCount64() + 2 * kTimeoutMs;
  while (true) {
    auto target = find_target(process.id());
    if (!target) return target.failure();
    auto session = TargetSession::attach(std::move(*target), to_utf16(dll), kTimeoutMs);
    // The DLL of the visit before may still be leaving.
    if (!session && session.failure().code == ExitCode::already_profiled && GetTickCount64() < end) {
      continue;
    }
    if (!session) return session.failure();
    std::optional<Failure> failure;
    switch (kind) {
      case Visit::dump: failure = dump(*session); break;
      case Visit::record: failure = record(*session, {.period_ns = 5'000'000}); break;
      case Visit::exceptions: failure = record(*session, {.event = SampleEvent::exception}); break;
      case Visit::types: failure = record(*session, {.event = SampleEvent::class_load}); break;
      case Visit::modules: failure = record(*session, {.event = SampleEvent::module_load}); break;
    }
    if (!failure) session->leave();
    return failure;
  }
}

// A time-out is not a clear error, because an agent that hangs would also cause one. Nor is the message of a lock that
// no thread holds.
bool is_clear(const Failure& failure) {
  return failure.code == ExitCode::no_memory ||
         (failure.code == ExitCode::refused && failure.message.find("lock") == std::string::npos);
}

void print(const char* what, const StarveStack& stack) {
  if (stack.depth == 0) return;
  std::printf("  %s:", what);
  for (std::uint32_t i = 0; i < stack.depth; ++i) std::printf(" %llx", stack.addresses[i].load());
  std::printf("\n");
}

struct Place {
  std::uint64_t hash;
  std::uint64_t times;  // how often a visit allocates at this place
};

// Finds the places at which a visit allocates. A recording allocates some 50,000 times, most of them at the same
// places.
std::vector<Place> learn_places(const ChildProcess& process, Visit kind, StarveRecord& record) {
  const int visits = wanted("MIXWALK_STARVED_LEARN", 1, 1);
  record.learn = true;
  for (int i = 0; i < visits; ++i) {
    const auto failure = visit(process, kind);
    EXPECT_FALSE(failure) << "with all memory there is: " << failure->message;
  }
  record.learn = false;
  std::vector<Place> places;
  for (const StarveRecord::Place& place : record.places) {
    if (place.hash == 0) continue;
    places.push_back({place.hash, std::max<std::uint64_t>(1, place.times / visits)});
  }
  // Every visit allocates at the first of these places.
  std::ranges::sort(places, std::ranges::greater(),
                    [](const Place& place) { return std::pair(place.times, place.hash); });
  return places;
}

// Which allocations of a visit fail: one at a place, and afterwards either all that follow or none.
struct Failing {
  std::uint64_t time;  // the number of the allocation at that place, from 1
  bool all_that_follow;
};

// Returns the first allocation at the place and some later ones, evenly spaced.
std::vector<Failing> failures_at(const Place& place) {
  const auto most = static_cast<std::uint64_t>(wanted("MIXWALK_STARVED_TIMES", 2, 1));
  const std::uint64_t step = std::max<std::uint64_t>(1, place.times / most);
  std::vector<Failing> all;
  for (std::uint64_t time = 1; time <= place.times && all.size() < most; time += step) {
    all.push_back({time, false});
  }
  all.push_back({1, true});
  return all;
}

void arm(StarveRecord& record, const Place& place, const Failing& failing) {
  record.failed = record.times = 0;
  record.first_failure.depth = record.end.depth = 0;
  record.time = failing.time;
  record.all_that_follow = failing.all_that_follow;
  record.place = place.hash;
}

// Makes every visit to one program. In each visit, other allocations at some of its places fail.
void starve(const ChildProcess& process, Visit kind) {
  const StarvePage page(process.id());
  ASSERT_NE(page.get(), nullptr);
  const std::vector<Place> places = learn_places(process, kind, *page.get());
  ASSERT_GT(places.size(), 50u) << "it does not count";
  const auto most = static_cast<std::size_t>(wanted("MIXWALK_STARVED_PLACES", 2, 1));
  const std::size_t step = (places.size() + most - 1) / most;
  std::map<std::string, int> words;
  std::uint64_t visits = 0, failed = 0;
  for (std::size_t n = 0; n < places.size(); n += step) {
    for (const Failing& failing : failures_at(places[n])) {
      arm(*page.get(), places[n], failing);
      const ULONGLONG begun = GetTickCount64();
      const auto failure = visit(process, kind);
      page->place = 0;
      ++visits;
      failed += page->failed != 0;
      const std::string at = "place " + std::to_string(n) + " of " + std::to_string(places.size()) +
                             ", time " + std::to_string(failing.time) + " of " +
                             std::to_string(places[n].times) +
                             (failing.all_that_follow ? " and all that follow" : "");
      if (failure) {
        std::printf("  %s: %s\n", at.c_str(), failure->message.c_str());
        std::fflush(stdout);
      }
      ++words[failure ? failure->message.substr(failure->message.find(')') + 1) : "whole"];
      if (!process.running()) {
        print("failed", page->first_failure);
        print("ended", page->end);
      }
      ASSERT_TRUE(process.running()) << at;
      EXPECT_LT(GetTickCount64() - begun, 3 * kTimeoutMs) << at;
      EXPECT_TRUE(!failure || is_clear(*failure)) << at << ": " << failure->message;
    }
  }
  EXPECT_GT(failed, 0u);
  std::printf("%zu places, %llu visits, %llu with a failed allocation\n", places.size(), visits,
              failed);
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

// The program has no threads left, or no handles, or no address space. If a visit cannot report that, it must not
// silently leave anything out.
TEST(Starved, EachKindOfAllocation) {
  ChildProcess hang({fixture("hang.exe")});
  ASSERT_TRUE(hang.read_line().value_or("").starts_with("READY"));
  const StarvePage page(hang.id());
  ASSERT_NE(page.get(), nullptr);
  for (const char* const import :
       {"malloc", "CreateEventW", "CreateThread", "DuplicateHandle", "HeapAlloc", "MapViewOfFile",
        "NtQuerySystemInformation", "OpenThread", "VirtualAlloc"}) {
    page->failed = 0;
    std::strcpy(page->import, import);
    const auto failure = visit(hang, Visit::dump);
    page->import[0] = '\0';
    ASSERT_TRUE(hang.running()) << import;
    EXPECT_GT(page->failed, 0u) << import;
    EXPECT_TRUE(!failure || is_clear(*failure)) << import << ": " << failure->message;
  }
  EXPECT_FALSE(visit(hang, Visit::dump)) << "with all memory there is again";
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

TEST(Starved, LoadsThatAreRecorded) {
  ChildProcess events({fixture("events.exe"), "--loads", "--let-go", "--rounds", "100000000"});
  ASSERT_EQ(events.read_line().value_or("(closed)"), "READY");
  events.write_line("GO");
  starve(events, Visit::types);
  starve(events, Visit::modules);
}

// Everything fails from the program's first callback to its last. The program must not notice.
TEST(Starved, AProgramToItsEnd) {
  ChildProcess events({fixture("events.exe"), "--rounds", "2000", "--threads", "2"});
  ASSERT_EQ(events.read_line().value_or("(closed)"), "READY");
  const StarvePage page(events.id());
  ASSERT_NE(page.get(), nullptr);
  TargetSession session = attach_to(events.id(), "mixwalk_starved.dll");
  ASSERT_FALSE(session.begin_record({.event = SampleEvent::exception}));
  page->all = true;
  events.write_line("GO");
  EXPECT_EQ(events.read_line().value_or("(closed)"), "DONE 4000");
  EXPECT_GT(page->failed, 0u);
  events.close_input();
  EXPECT_EQ(events.wait(30'000), 0u);
}

// Every malloc of the DLL sets the last error. So each callback that allocates would overwrite the program's own last
// error, which the program reads directly afterwards.
TEST(LastError, IsThatOfTheProgram) {
  ChildProcess events({fixture("events.exe"), "--rounds", "500", "--last-error"});
  ASSERT_EQ(events.read_line().value_or("(closed)"), "READY");
  const StarvePage page(events.id());
  ASSERT_NE(page.get(), nullptr);
  page->spoil_last_error = 0xDEAD;
  TargetSession session = attach_to(events.id(), "mixwalk_starved.dll");
  ASSERT_FALSE(session.begin_record({.event = SampleEvent::exception}));
  // The first bytes come when exceptions are recorded.
  RecordedBytes bytes;
  auto next = session.next(kTimeoutMs, bytes);
  ASSERT_TRUE(next && *next == TargetSession::Next::bytes);
  const std::uint64_t before = page->count;
  events.write_line("GO");
  EXPECT_EQ(events.read_line().value_or("(closed)"), "DONE 500, last error changed 0 times");
  EXPECT_GE(page->count - before, 1000u) << "a callback for each of two exceptions a round";
  session.stop_record();
  events.close_input();
  EXPECT_EQ(events.wait(30'000), 0u);
}

// The control: the program runs without mixwalk.
TEST(LastError, IsThatOfTheProgramWithoutUs) {
  ChildProcess events({fixture("events.exe"), "--rounds", "500", "--last-error"});
  ASSERT_EQ(events.read_line().value_or("(closed)"), "READY");
  events.write_line("GO");
  EXPECT_EQ(events.read_line().value_or("(closed)"), "DONE 500, last error changed 0 times");
}

}  // namespace
}  // namespace mixwalk
