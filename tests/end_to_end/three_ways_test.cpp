// The same threads are walked by an attach, from outside, and in a dump file, at random moments. The frames must be the
// same, by kind, address, stack pointer, module, name, target and place in IL.

#include <gtest/gtest.h>
#include <windows.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "tests/end_to_end/session.h"
#include "tests/support/win/child_process.h"
#include "tests/walker/outside/win/look_outside.h"
#include "walker/shown/words.h"

namespace mixwalk {
namespace {

// The number of moments in an ordinary run; MIXWALK_THREE_WAYS=100 for more.
constexpr int kOrdinaryMoments = 2;
int moments() { return wanted("MIXWALK_THREE_WAYS", kOrdinaryMoments, kOrdinaryMoments); }
// One moment in so many is also written into a dump file, which takes seconds. In an ordinary run this is done only for
// the ladder.
constexpr int kMomentsOfADumpFile = 10;

constexpr char kInIl[] = " in IL ";

// One line per frame, leaf first.
using Frames = std::vector<std::string>;
using Threads = std::map<std::uint32_t, Frames>;

Frames frames_of(const Snapshot& snapshot, const Thread& thread) {
  Frames frames;
  for (const StackFrame& frame : thread.stack.frames) {
    if (frame.inline_depth != 0 && frame.kind == FrameKind::native) continue;
    std::ostringstream text;
    text << enum_name(frame.kind) << std::hex << ' ' << frame.address << ' ' << frame.stack_pointer;
    if (frame.module != Frame::kNone) {
      text << ' ' << module_name(snapshot.modules[static_cast<std::size_t>(frame.module)]);
    }
    text << '!' << frame.name;
    if (!frame.target.empty()) text << " to " << frame.target;
    if (frame.il.assembly != Frame::kNone) {
      const Assembly& assembly = snapshot.assemblies.at(static_cast<std::size_t>(frame.il.assembly));
      text << kInIl << frame.il.method << '+' << frame.il.offset << " of " << assembly.path
           << (assembly.optimised ? " optimised" : "");
      for (const std::byte byte : assembly.mvid) text << ' ' << static_cast<unsigned>(byte);
    }
    frames.push_back(text.str());
  }
  return frames;
}

// hang.exe's thread that is busy is left out. It alternates between a yield and a sleep, so it can be at one place in
// both attached dumps and at the other in both looks from outside, and not seem to move (once in some ten runs).
Threads threads_of(const Snapshot& snapshot) {
  Threads threads;
  for (const Thread& thread : snapshot.threads) {
    if (thread.skipped.empty() && thread.name != "spin") threads[thread.os_id] = frames_of(snapshot, thread);
  }
  return threads;
}

std::string text_of(const Frames& frames) {
  std::string text;
  for (const std::string& frame : frames) text += "  " + frame + '\n';
  return text;
}

struct Tally {
  int moments = 0, dump_files = 0;
  std::size_t compared = 0, frames = 0;   // stacks that did not move, and their frames
  std::size_t in_il = 0;                  // how many of these frames have a known place in IL
  std::size_t by_dump_file = 0;           // how many of these frames are also in a dump file
  std::size_t moved = 0;                  // stacks that moved between the looks; they are not compared
  std::size_t closed = 0, open = 0;       // native runs, in all looks
};

void count_runs(const Snapshot& snapshot, Tally& tally) {
  for (const Thread& thread : snapshot.threads) {
    for (const Run& run : thread.stack.runs()) {
      ++(run.end == RunEnd::open ? tally.open : tally.closed);
      if (run.end == RunEnd::open) std::printf("open:\n%s", to_text(snapshot, thread).c_str());
    }
  }
}

class ThreeWays {
 public:
  ThreeWays(const ChildProcess& program, bool with_dump_files)
      : program_(program),
        with_dump_files_(with_dump_files),
        attached_(attach_to(program.id())),
        outside_(program.id(), mixwalk_exe()) {}
  ~ThreeWays() { EXPECT_EQ(attached_.leave(), ""); }

  // If a thread has the same stack in two alternating looks of each way, it does not move.
  void look(Tally& tally) {
    const Threads first = by_attach(tally), second = by_looking(tally);
    Threads file;
    if (with_dump_files_ && tally.moments % kMomentsOfADumpFile == 0) {
      file = by_dump_file(tally);
      ++tally.dump_files;
    }
    const Threads third = by_attach(tally), fourth = by_looking(tally);
    ++tally.moments;
    for (const auto& [id, frames] : first) {
      if (!second.contains(id) || !third.contains(id) || !fourth.contains(id)) continue;
      if (third.at(id) != frames || fourth.at(id) != second.at(id)) {
        ++tally.moved;
        continue;
      }
      ++tally.compared;
      tally.frames += frames.size();
      tally.in_il += static_cast<std::size_t>(std::ranges::count_if(
          frames, [](const std::string& frame) { return frame.find(kInIl) != std::string::npos; }));
      EXPECT_EQ(frames, second.at(id)) << "thread " << id << ", from outside:\n"
                                       << text_of(second.at(id)) << "attached:\n"
                                       << text_of(frames);
      if (!file.contains(id)) continue;
      ++tally.by_dump_file;
      EXPECT_EQ(frames, file.at(id)) << "thread " << id << ", in the dump file:\n"
                                     << text_of(file.at(id)) << "attached:\n"
                                     << text_of(frames);
    }
  }

 private:
  Threads by_attach(Tally& tally) {
    const Snapshot snapshot = dump_named(attached_, {});
    count_runs(snapshot, tally);
    return threads_of(snapshot);
  }
  Threads by_looking(Tally& tally) {
    Snapshot snapshot = outside_.dump();
    name_native_frames(snapshot);
    count_runs(snapshot, tally);
    return threads_of(snapshot);
  }
  Threads by_dump_file(Tally& tally) const {
    const std::string path = temporary_file("three_ways_test.dmp");
    const ProgramResult written =
        run_program({mixwalk_exe(), "dump", "-p", std::to_string(program_.id()), "-o", path}, 200'000);
    EXPECT_EQ(written.exit_code, 0u) << written.err;
    OutsideLook look = look_at_dump(path, mixwalk_exe());
    DeleteFileA(path.c_str());
    EXPECT_EQ(look.failure, "");
    EXPECT_EQ(look.obstacle, "");
    name_native_frames(look.snapshot);
    count_runs(look.snapshot, tally);
    return threads_of(look.snapshot);
  }

  const ChildProcess& program_;
  const bool with_dump_files_;
  TargetSession attached_;
  OutsideSession outside_;
};

struct Case {
  const char* program;
  std::vector<std::string> arguments;
  std::size_t least_compared;  // at each moment
  bool parks_anew = false;     // the program parks its threads again for each line
};

class SameThreads : public testing::TestWithParam<Case> {};

TEST_P(SameThreads, ByAttachFromOutsideAndInADumpFile) {
  std::vector<std::string> arguments = {fixture(GetParam().program + std::string(".exe"))};
  arguments.insert(arguments.end(), GetParam().arguments.begin(), GetParam().arguments.end());
  if (GetParam().parks_anew) arguments.insert(arguments.end(), {"--chains", std::to_string(moments())});
  // Folklore: the runtime's thread for tiered compilation waits for work for 4 s before it ends. An attach gives it
  // work, so it slept in both attached dumps of a moment and waited in both looks from outside, and did not seem to
  // move (orders-demo, once in some ten runs on a busy machine). Remedy: the thread ends as soon as it has no work.
  ChildProcess program(arguments, StartOptions{.environment = {{"DOTNET_TC_BackgroundWorkerTimeoutMs", "0"}}});
  const auto expect_ready = [&] {
    const std::string line = program.read_line().value_or("(closed)");
    ASSERT_TRUE(line.starts_with("READY") || line.starts_with("PARKED")) << line;
  };
  ASSERT_NO_FATAL_FAILURE(expect_ready());
  Tally tally;
  {
    ThreeWays ways(program, GetParam().parks_anew || moments() > kOrdinaryMoments);
    std::mt19937 random(14);
    for (int i = 0; i < moments(); ++i) {
      SCOPED_TRACE(i);
      if (GetParam().parks_anew && i != 0) {
        program.write_line("NEXT");
        ASSERT_NO_FATAL_FAILURE(expect_ready());
      }
      Sleep(std::uniform_int_distribution<DWORD>(0, 100)(random));
      ways.look(tally);
    }
  }
  std::printf(
      "%s: %d moments, %d of them dump files too; %zu stacks with %zu frames the same (%zu with IL), %zu of them in a "
      "file; %zu moved meanwhile; %zu native runs ended, %zu open\n",
      GetParam().program, tally.moments, tally.dump_files, tally.compared, tally.frames, tally.in_il,
      tally.by_dump_file, tally.moved, tally.closed, tally.open);
  EXPECT_GE(tally.compared, GetParam().least_compared * static_cast<std::size_t>(tally.moments));
  EXPECT_GT(tally.in_il, 0u);
  EXPECT_GE(tally.by_dump_file, GetParam().least_compared * static_cast<std::size_t>(tally.dump_files));
  program.terminate();
}

INSTANTIATE_TEST_SUITE_P(
    , SameThreads,
    testing::Values(
        Case{"hang", {}, 10},
        Case{"ladder", {"--threads", "4", "--seed", "14", "--out", temporary_file("three_ways.json")}, 4, true},
        Case{"sqlite", {}, 1}, Case{"orders-demo", {}, 4}),
    [](const auto& info) { return std::string(info.param.program).substr(0, 6); });

}  // namespace
}  // namespace mixwalk
