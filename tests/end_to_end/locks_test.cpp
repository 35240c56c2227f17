// Reads the locks of a live program from inside, from outside and from a dump file. fixtures/monitors prints the true
// state of each lock.

#include <gtest/gtest.h>
#include <windows.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/end_to_end/hanging_program.h"
#include "tests/support/win/child_process.h"
#include "tests/support/win/wine.h"
#include "walker/locks/monitors.h"

namespace mixwalk {
namespace {

using Json = nlohmann::json;

// Lines such as "monitor Monitors.Thin 420 3 -", as monitors.exe writes them.
using LockLines = std::multiset<std::string>;

std::string sorted(const std::string& waiters) {
  std::set<std::string> each;
  std::istringstream in(waiters);
  for (std::string one; std::getline(in, one, ',');) each.insert(one);
  std::string text;
  for (const std::string& one : each) text += (text.empty() ? "" : ",") + one;
  return text;
}

std::string line_of(const Json& lock) {
  const auto number = [](const Json& value) { return value.is_null() ? "0" : std::to_string(value.get<unsigned>()); };
  std::string waiters;
  for (const Json& waiter : lock.at("waiters")) {
    waiters += (waiters.empty() ? "" : ",") + number(waiter.at("os_id")) + (waiter.at("pulse").get<bool>() ? "!" : "");
  }
  const std::string type = lock.at("type").is_null() ? "-" : lock.at("type").get<std::string>();
  return lock.at("kind").get<std::string>() + ' ' + type + ' ' + number(lock.at("owner")) + ' ' +
         number(lock.at("recursion")) + ' ' + (waiters.empty() ? "-" : sorted(waiters));
}

// Returns the locks of the program itself. Other locks of the runtime's library are left out, because Console.ReadLine
// holds a reader.
LockLines own_locks(const Json& dump) {
  LockLines lines;
  for (const Json& lock : dump.at("locks")) {
    const std::string line = line_of(lock);
    if (!line.starts_with("monitor System.IO.")) lines.insert(line);
  }
  return lines;
}

// A program of fixtures/ that prints the true state of its locks, followed by READY.
struct LockedProgram {
  explicit LockedProgram(const std::vector<std::string>& arguments) : program(arguments) {
    while (const auto line = program.read_line()) {
      if (line->starts_with("READY")) return;
      if (!line->starts_with("LOCK ")) {
        said.push_back(*line);
        continue;
      }
      std::istringstream in(*line);
      std::string lock, kind, type, owner, recursion, waiters;
      in >> lock >> kind >> type >> owner >> recursion >> waiters;
      truth.insert(kind + ' ' + type + ' ' + owner + ' ' + recursion + ' ' + sorted(waiters));
    }
    ADD_FAILURE() << "the program did not start";
  }
  std::string id() const { return std::to_string(program.id()); }
  void stop() {
    program.write_line("STOP");
    EXPECT_EQ(program.wait(20'000), 0u);
  }

  ChildProcess program;
  LockLines truth;
  std::vector<std::string> said;  // other lines of the output
};

enum class From { inside, outside, file };
constexpr const char* kNames[] = {"inside", "outside", "file"};

// Shows a dump file that mixwalk has written.
ProgramResult dump_by_file(const std::string& id, const char* format) {
  const std::string path = temporary_file("locks_test_" + id + ".dmp");
  const ProgramResult written = run_program({mixwalk_exe(), "dump", "-p", id, "-o", path}, 200'000);
  EXPECT_EQ(written.exit_code, 0u) << written.err;
  const ProgramResult read = run_program({mixwalk_exe(), "dump", "-f", format, path}, 60'000);
  remove_file(path);
  return read;
}

ProgramResult run_dump(const std::string& id, From from, const char* format) {
  switch (from) {
    case From::inside: return run_until_let_in({"dump", "-f", format, "-p", id}, 60'000, TargetLocks::looked_for);
    case From::outside: return run_program({mixwalk_exe(), "dump", "-f", format, "-p", id, "--outside"});
    case From::file: return dump_by_file(id, format);
  }
  return {};
}

// On a busy machine the time for the look at locks may be over, and the dump says so. Then it is made again.
std::string dump_as(const char* format, const std::string& id, From from) {
  constexpr int kTimes = 5;
  for (int i = 1;; ++i) {
    const ProgramResult result = run_dump(id, from, format);
    EXPECT_EQ(result.exit_code, 0u) << result.err;
    if (result.out.find(kLocksTimeOver) == std::string::npos || i == kTimes) return result.out;
  }
}

Json dump(const std::string& id, From from) { return Json::parse(dump_as("json", id, from), nullptr, false); }

struct Runtime {
  const char* name;
  const char* folder;
  bool has_lock_type;  // System.Threading.Lock

  bool is_newest() const { return *folder == '\0'; }
};

class Locks : public testing::TestWithParam<Runtime> {
 protected:
  std::string path(const std::string& program) const { return fixture(GetParam().folder + program); }
};

void expect_truth(const LockedProgram& program, std::initializer_list<From> ways) {
  for (const From from : ways) {
    SCOPED_TRACE(kNames[static_cast<int>(from)]);
    const Json found = dump(program.id(), from);
    ASSERT_TRUE(found.is_object());
    EXPECT_EQ(found.at("locks_missing"), nullptr);
    EXPECT_EQ(own_locks(found), program.truth);
  }
}

// A collection has moved the objects.
TEST_P(Locks, OfEachKindAreAsTheProgramSays) {
  LockedProgram program({path("monitors.exe"), "--collect"});
  ASSERT_EQ(program.truth.size(), GetParam().has_lock_type ? 8u : 6u);
  expect_truth(program, {From::outside, From::file, From::inside});
  program.stop();
}

TEST_P(Locks, TwoThreadsThatWaitForEachOther) {
  ChildProcess hang({path("hang.exe")});
  ASSERT_TRUE(hang.read_line().value_or("").starts_with("READY"));
  for (const From from : {From::outside, From::inside}) {
    SCOPED_TRACE(kNames[static_cast<int>(from)]);
    const Json found = dump(std::to_string(hang.id()), from);
    std::map<std::string, unsigned> ids;
    for (const Json& thread : found.at("threads")) {
      if (thread.at("name").is_string()) ids[thread.at("name")] = thread.at("os_id");
    }
    const std::string one = std::to_string(ids["deadlock 1"]), two = std::to_string(ids["deadlock 2"]);
    // The thread that waits for a task's result is in Monitor.Wait.
    EXPECT_EQ(own_locks(found), (LockLines{"monitor System.Object " + one + " 1 " + two,
                                           "monitor System.Object " + two + " 1 " + one,
                                           "monitor System.Object 0 0 " + std::to_string(ids["task result"]) + "!"}));
  }
  if (GetParam().is_newest()) {
    const std::string text = dump_as("text", std::to_string(hang.id()), From::inside);
    EXPECT_NE(text.find("  waits for System.Object 0x"), std::string::npos) << text;
    EXPECT_NE(text.find(" \"deadlock 2\"\n  holds System.Object 0x"), std::string::npos);
    EXPECT_NE(text.find(" (1 waits)\n"), std::string::npos);
  }
  hang.write_line("STOP");
  EXPECT_EQ(hang.wait(20'000), 0u);
}

// The owners of locks change all the time. Each dump must show a state that is possible.
void look_at_motion(const std::string& path, const std::string& option, const std::string& type, int ordinary_looks) {
  LockedProgram program({path, option});
  const int looks = wanted("MIXWALK_LOCK_LOOKS", ordinary_looks, 4);
  std::size_t seen = 0;
  for (int i = 0; i < looks; ++i) {
    const Json found = dump(program.id(), i % 4 == 1 ? From::inside : From::outside);
    std::set<unsigned> threads;
    for (const Json& thread : found.at("threads")) threads.insert(thread.at("os_id").get<unsigned>());
    std::multiset<unsigned> waiters;
    for (const Json& lock : found.at("locks")) {
      const std::string line = line_of(lock);
      SCOPED_TRACE(line);
      if (line.starts_with("monitor System.IO.")) continue;
      ++seen;
      EXPECT_EQ(lock.at("type"), type);
      ASSERT_TRUE(lock.at("held").get<bool>() || !lock.at("waiters").empty());
      if (!lock.at("owner").is_null()) {
        EXPECT_TRUE(threads.contains(lock.at("owner").get<unsigned>()));
      }
      for (const Json& waiter : lock.at("waiters")) {
        EXPECT_NE(waiter.at("os_id"), lock.at("owner"));
        EXPECT_FALSE(waiter.at("pulse").get<bool>());
        EXPECT_TRUE(threads.contains(waiter.at("os_id").get<unsigned>()));
        waiters.insert(waiter.at("os_id").get<unsigned>());
      }
    }
    EXPECT_LE(seen, 3u * static_cast<std::size_t>(i + 1));
    for (const unsigned waiter : waiters) EXPECT_EQ(waiters.count(waiter), 1u) << "it waits for two locks at once";
  }
  program.stop();
}

TEST_P(Locks, InMotionAreNeverImpossible) {
  const int looks = GetParam().is_newest() ? 4 : 2;
  look_at_motion(path("monitors.exe"), "--motion", "Monitors.Shared", looks);
  if (!GetParam().has_lock_type) return;
  look_at_motion(path("monitors.exe"), "--lock-motion", "System.Threading.Lock", looks);
}

// The garbage collector has moved an object, and in its former place its header still says that it is locked.
TEST_P(Locks, ThatWereHeldWhereAnObjectWasBeforeItMoved) {
  LockedProgram program({path("monitors.exe"), "--moved"});
  ASSERT_EQ(program.said.size(), 1u);
  EXPECT_NE(program.said.front(), "MOVED 0");
  const Json found = dump(program.id(), From::outside);
  EXPECT_EQ(found.at("locks_missing"), nullptr);
  EXPECT_EQ(own_locks(found), program.truth) << program.said.front();
  program.stop();
}

INSTANTIATE_TEST_SUITE_P(, Locks,
                         testing::Values(Runtime{"net10", "", true}, Runtime{"net9", "..\\fixtures-net9.0\\", true},
                                         Runtime{"net8", "..\\fixtures-net8.0\\", false}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(LocksBeforeACollection, OfEachKindAreAsTheProgramSays) {
  LockedProgram program({fixture("monitors.exe")});
  ASSERT_EQ(program.truth.size(), 8u);
  expect_truth(program, {From::outside});
  program.stop();
}

// One thread is in a DllMain that waits, so it holds the loader lock. Meanwhile one thread loads a library, one begins,
// and one ends. Under Windows 10 they wait for an event, and the process environment block says who holds the lock.
TEST(LoaderLock, IsShownWithItsHolderAndWhoWaitsForIt) {
  const HangingProgram hangs("loader-lock");
  for (const From from : {From::outside, From::file}) {
    SCOPED_TRACE(kNames[static_cast<int>(from)]);
    const Json found = dump(hangs.id(), from);
    std::vector<Json> loader_locks;
    for (const Json& lock : found.at("locks")) {
      if (lock.at("type") == "loader lock") loader_locks.push_back(lock);
    }
    ASSERT_EQ(loader_locks.size(), 1u) << found.at("locks");
    const Json& lock = loader_locks.front();
    EXPECT_EQ(lock.at("owner"), hangs.thread("loading")) << lock;
    for (const char* const name : {"waiting", "beginning", "ending"}) {
      EXPECT_TRUE(std::ranges::any_of(lock.at("waiters"), [&](const Json& waiter) {
        return waiter.at("os_id") == hangs.thread(name);
      })) << name << ": " << lock;
    }
  }
}

TEST(ManyLocks, OfAllSyncBlocksTheOneThatIsHeld) {
  LockedProgram program({fixture("monitors.exe"), "--many", std::to_string(wanted("MIXWALK_SYNC_BLOCKS", 20'000, 1))});
  const Json found = dump(program.id(), From::outside);
  EXPECT_EQ(found.at("locks_missing"), nullptr);
  EXPECT_EQ(own_locks(found), program.truth);
  program.stop();
}

}  // namespace
}  // namespace mixwalk
