// A live process is only read. Its stacks from outside, with the runtime's debugging library in a worker, are compared
// with those of an attach to the same parked threads.

#include <gtest/gtest.h>
#include <windows.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <map>
#include <string>
#include <vector>

#include "tests/support/win/child_process.h"
#include "tests/walker/outside/win/look_outside.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

using Json = nlohmann::json;

// One line for each frame that the runtime knows: "managed A.B(System.Int32)", "stub IL_STUB_PInvoke".
using Frames = std::vector<std::string>;

std::map<std::uint32_t, Frames> by_attach(DWORD process) {
  const ProgramResult result = run_until_let_in({"dump", "-f", "json", "-p", std::to_string(process)});
  EXPECT_EQ(result.exit_code, 0u) << result.err;
  std::map<std::uint32_t, Frames> threads;
  const Json dump = Json::parse(result.out);
  for (const Json& thread : dump.at("threads")) {
    Frames& frames = threads[thread.at("os_id").get<std::uint32_t>()];
    if (!thread.contains("frames")) continue;
    for (const Json& frame : thread.at("frames")) {
      const auto kind = frame.at("kind").get<std::string>();
      if (kind != "managed" && kind != "stub") continue;
      frames.push_back(kind + ' ' + (frame.at("name").is_string() ? frame.at("name").get<std::string>() : ""));
    }
  }
  return threads;
}

Frames from_outside(const Thread& thread) {
  Frames frames;
  for (const Frame& frame : thread.stack.frames) {
    if (frame.kind == FrameKind::managed) frames.push_back("managed " + frame.name);
    if (frame.kind == FrameKind::stub) frames.push_back("stub " + frame.name);
  }
  return frames;
}

bool reaches_its_root(const Thread& thread) {
  if (thread.stack.runs().empty()) return false;
  for (const Run& run : thread.stack.runs()) {
    if (run.end == RunEnd::open) return false;
  }
  return true;
}

using Attached = std::map<std::uint32_t, Frames>;

void expect_the_same(const OutsideLook& look, const Attached& attached, const std::vector<std::string>& names) {
  ASSERT_EQ(look.failure, "");
  EXPECT_EQ(look.obstacle, "");
  std::size_t found = 0;
  for (const Thread& thread : look.snapshot.threads) {
    const bool wanted = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return thread.name == name;
    });
    if (!wanted) continue;
    SCOPED_TRACE(thread.name);
    ++found;
    EXPECT_EQ(thread.skipped, "");
    EXPECT_TRUE(reaches_its_root(thread));
    ASSERT_TRUE(attached.contains(thread.os_id));
    EXPECT_EQ(from_outside(thread), attached.at(thread.os_id));
  }
  EXPECT_EQ(found, names.size());
}

// Threads of hang.exe that never move.
const std::vector<std::string> kParked{"deadlock 1", "deadlock 2", "task result", "native wait", "com call",
                                       "sleep",      "accept",     "deep",        "exception"};

class LiveOutside : public testing::TestWithParam<const char*> {};

TEST_P(LiveOutside, ParkedThreadsHaveTheStacksOfAnAttach) {
  ChildProcess hang({fixture(std::string(GetParam()) + "hang.exe")});
  ASSERT_TRUE(hang.read_line().value_or("").starts_with("READY"));
  const Attached attached = by_attach(hang.id());
  const OutsideLook live = look_outside(hang.id(), mixwalk_exe());
  expect_the_same(live, attached, kParked);
  hang.write_line("STOP");
  EXPECT_EQ(hang.wait(20'000), 0u);
}

INSTANTIATE_TEST_SUITE_P(, LiveOutside, testing::Values("", "..\\fixtures-net8.0\\", "..\\fixtures-net9.0\\"),
                         [](const auto& info) {
                           const std::string folder = info.param;
                           return folder.empty() ? std::string("net10") : "net" + folder.substr(15, 1);
                         });

// The leaf of such a thread belongs to no method, so its name has no FunctionID to come with.
TEST(LiveOutsideRuntimeCode, AWriteBarrierHasItsName) {
  ChildProcess program({fixture("hunt.exe"), "stores", "--busy"});
  ASSERT_TRUE(program.read_line().value_or("").starts_with("READY"));
  const auto is_barrier = [](const Frames& frames) {
    return !frames.empty() && frames.front() == "stub write barrier";
  };
  constexpr int kLooks = 50;  // two threads are there some half of the time
  bool inside = false, outside = false;
  for (int i = 0; i < kLooks && !inside; ++i) {
    for (const auto& [id, frames] : by_attach(program.id())) {
      inside |= is_barrier(frames);
      EXPECT_EQ(std::ranges::count(frames, "stub "), 0);
    }
  }
  EXPECT_TRUE(inside);
  OutsideSession session(program.id(), mixwalk_exe());
  for (int i = 0; i < kLooks && !outside; ++i) {
    for (const Thread& thread : session.dump().threads) outside |= is_barrier(from_outside(thread));
  }
  EXPECT_TRUE(outside);
  program.write_line("STOP");
  EXPECT_EQ(program.wait(20'000), 0u);
}

TEST(LiveOutsideLadder, RandomChainsHaveTheStacksOfAnAttach) {
  const int chains = wanted("MIXWALK_LADDER_CHAINS", 10, 1);
  ChildProcess ladder({fixture("ladder.exe"), "--chains", std::to_string(chains), "--seed", "14", "--out",
                       temporary_file("outside_chain.json")});
  for (int i = 0; i < chains; ++i) {
    SCOPED_TRACE(i);
    const std::string line = ladder.read_line().value_or("");
    ASSERT_TRUE(line.starts_with("PARKED ")) << line;
    const OutsideLook look = look_outside(ladder.id(), mixwalk_exe());
    ASSERT_EQ(look.failure, "");
    const auto attached = by_attach(ladder.id());
    std::size_t chain_threads = 0;
    for (const Thread& thread : look.snapshot.threads) {
      const Frames frames = from_outside(thread);
      const bool is_chain = std::any_of(frames.begin(), frames.end(), [](const std::string& frame) {
        return frame.starts_with("managed Ladder.");
      });
      if (!is_chain || !attached.contains(thread.os_id)) continue;
      ++chain_threads;
      EXPECT_TRUE(reaches_its_root(thread)) << thread.name;
      EXPECT_EQ(frames, attached.at(thread.os_id)) << thread.name;
    }
    EXPECT_GE(chain_threads, 1u);
    ladder.write_line("NEXT");
  }
}

}  // namespace
}  // namespace mixwalk
