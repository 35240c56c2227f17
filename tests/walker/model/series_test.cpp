#include "walker/model/series.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/builders/recordings.h"
#include "tests/builders/snapshot_builder.h"

namespace mixwalk {
namespace {

// Removes everything that a recording does not keep.
Snapshot without_places(Snapshot snapshot) {
  for (Thread& thread : snapshot.threads) {
    thread.frozen_ns = 0;
    thread.stopping_ns = 0;
    thread.stack.refusal = 0;
    thread.stack.engine = snapshot.engine;
    for (StackFrame& frame : thread.stack.frames) frame.stack_pointer = 0;
  }
  return snapshot;
}

TEST(Series, DumpAndBack) {
  const Snapshot snapshot = representative_snapshot();
  const Recording recording = to_recording(snapshot);
  ASSERT_EQ(recording.samples.size(), snapshot.threads.size());
  const Snapshot expected = without_places(snapshot);
  const Snapshot back = to_series(recording).front();
  ASSERT_EQ(back.threads.size(), expected.threads.size());
  for (std::size_t i = 0; i < back.threads.size(); ++i) {
    SCOPED_TRACE(expected.threads[i].name);
    EXPECT_EQ(back.threads[i].stack.frames, expected.threads[i].stack.frames);
    EXPECT_EQ(back.threads[i].stack.runs(), expected.threads[i].stack.runs());
  }
  EXPECT_EQ(back, expected);
}

// Returns a dump as it is after it was stored in a .mixwalk file of its own.
Snapshot kept(const Snapshot& dump) { return to_series(to_recording(dump)).front(); }

// Three dumps that differ in everything that belongs to a moment.
std::vector<Snapshot> three_dumps() {
  std::vector<Snapshot> series(3, representative_snapshot());
  for (std::size_t i = 0; i < series.size(); ++i) {
    series[i].unix_time_ms += 10'000 * i;
    series[i].locks = {{.kind = LockKind::monitor, .address = 0x1000 + i, .type = "Orders.Book", .owner = 7}};
    series[i].locks[0].waiters = {{.os_id = static_cast<std::uint32_t>(8 + i), .pulse = i == 1}};
    series[i].omissions.threads = true;
    if (i != 1) series[i].crash = Crash{.thread = 7, .code = 0xC0000005, .touched = i, .objects = {}};
    series[i].unasked = i == 0 ? "the DAC crashed" : "";
    series[i].locks_missing = i == 1 ? "the time for it was over" : "";
    for (Thread& thread : series[i].threads) thread.cpu = 100 * i + thread.os_id;
  }
  series[0].threads[0].cpu.reset();
  return series;
}

void expect_same(const std::vector<Snapshot>& given_back, const std::vector<Snapshot>& series) {
  ASSERT_EQ(given_back.size(), series.size());
  for (std::size_t i = 0; i < series.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(given_back[i], kept(series[i]));
    EXPECT_EQ(given_back[i].omissions, series[i].omissions);
  }
}

TEST(Series, GivesBackEachDump) {
  const std::vector<Snapshot> series = three_dumps();
  const Recording recording = series_recording(series);
  EXPECT_EQ(dumps_of(recording), 3u);
  EXPECT_EQ(recording.earlier_dumps.size(), 3u);
  EXPECT_EQ(recording.duration_ns, 20'000'000'000u);
  expect_same(to_series(recording), series);
}

TEST(Series, AsynchronousWorkOfEachDump) {
  std::vector<Snapshot> series = three_dumps();
  add_async_work(series[1]);
  series[2].tasks_missing = "the time for it was over";
  const std::vector<Snapshot> back = to_series(series_recording(series));
  expect_same(back, series);
  EXPECT_EQ(back[1].tasks, series[1].tasks);
  EXPECT_EQ(back[1].threads[3].waits_for_task, 2u);
  EXPECT_EQ(back[1].threads[0].traits, series[1].threads[0].traits);
  EXPECT_EQ(back[0].threads[0].traits, ThreadTraits());
  EXPECT_EQ(back[1].threads[3].queue_position, series[1].threads[3].queue_position);
  EXPECT_EQ(back[0].threads[3].queue_position, 0u);
}

TEST(Series, TheExceptionsThatThreadsOfEachDumpHandle) {
  std::vector<Snapshot> series = three_dumps();
  const HandledException failed{{{.type = "Orders.Failed", .message = "no stock", .trace = {}}}};
  series[0].threads[1].handles = {failed, {}};
  series[2].threads[3].handles = {failed};
  const Recording recording = series_recording(series);
  EXPECT_TRUE(recording.handled.empty());
  const std::vector<Snapshot> back = to_series(recording);
  expect_same(back, series);
  for (std::size_t i = 0; i < series.size(); ++i) {
    for (std::size_t j = 0; j < series[i].threads.size(); ++j) {
      EXPECT_EQ(back[i].threads[j].handles, series[i].threads[j].handles);
    }
  }
  EXPECT_EQ(kept(series[0]).threads[1].handles, series[0].threads[1].handles);
  Recording forged = to_recording(series[0]);
  forged.handled.push_back({.sample = 1000, .exception = failed});
  EXPECT_EQ(to_series(forged).front(), kept(series[0])) << "there is no such sample";
}

// A file has room for only so many of all dumps together.
TEST(Series, TooManyExceptionsAreLeftOut) {
  Snapshot dump = representative_snapshot();
  dump.threads[0].handles.resize(40'000);
  const Recording recording = series_recording({dump, dump});
  EXPECT_EQ(recording.earlier_dumps[0].handled.size(), 40'000u);
  EXPECT_TRUE(recording.earlier_dumps[1].handled.empty());
}

TEST(Series, ALockOfATaskThatIsNotThere) {
  Snapshot snapshot = representative_snapshot();
  add_async_work(snapshot);
  Recording recording = to_recording(snapshot);
  recording.locks.back().task_holders = {1, 1000};
  EXPECT_EQ(to_series(recording).front().locks.back().task_holders, std::vector<std::uint32_t>{1});
}

TEST(Series, OfOneDumpIsThatDump) {
  const Snapshot one = representative_snapshot();
  expect_same(to_series(series_recording({one})), {one});
}

TEST(Series, StacksThatStayAreKeptOnce) {
  const Recording one = to_recording(representative_snapshot()), three = series_recording(three_dumps());
  EXPECT_EQ(three.frames.size(), one.frames.size());
  EXPECT_EQ(three.nodes.size(), one.nodes.size());
  EXPECT_EQ(three.threads.size(), one.threads.size());
}

// The system gives the id of an ended thread to another one, and a thread may get a name while it runs.
TEST(Series, ThreadsWithTheIdOfAnother) {
  std::vector<Snapshot> series = three_dumps();
  series[1].threads[0].created += 1;
  series[2].threads[1].name = "renamed";
  expect_same(to_series(series_recording(series)), series);
}

// A later dump has a module that no earlier one has, below all others. The frames must still lie in their own modules.
TEST(Series, ModulesThatComeLaterAreInTheirPlace) {
  std::vector<Snapshot> series = three_dumps();
  series[1].modules.insert(series[1].modules.begin(), Module{.base = 0x1000, .size = 0x1000, .path = "C:\\late.dll"});
  for (Thread& thread : series[1].threads) {
    for (Frame& frame : thread.stack.frames) frame.module += frame.module != Frame::kNone;
  }
  const std::vector<Snapshot> back = to_series(series_recording(series));
  ASSERT_EQ(back.size(), 3u);
  for (std::size_t i = 0; i < back.size(); ++i) {
    EXPECT_TRUE(std::ranges::is_sorted(back[i].modules, {}, &Module::base));
    EXPECT_EQ(back[i].modules, series[1].modules);
    const Snapshot single = kept(series[i]);
    for (std::size_t t = 0; t < single.threads.size(); ++t) {
      const auto& frames = single.threads[t].stack.frames;
      for (std::size_t f = 0; f < frames.size(); ++f) {
        if (frames[f].module == Frame::kNone) continue;
        EXPECT_EQ(back[i].modules[static_cast<std::size_t>(back[i].threads[t].stack.frames[f].module)],
                  single.modules[static_cast<std::size_t>(frames[f].module)]);
      }
    }
  }
}

TEST(Series, DumpsOfOneMillisecondAndOfAClockThatWasSetBackAreApart) {
  std::vector<Snapshot> series = three_dumps();
  const std::uint64_t first = series[0].unix_time_ms;
  series[1].unix_time_ms = first;
  series[2].unix_time_ms = first - 5'000;
  const std::vector<Snapshot> back = to_series(series_recording(series));
  ASSERT_EQ(back.size(), 3u);
  EXPECT_EQ(back[1].unix_time_ms, first + 1);
  EXPECT_EQ(back[2].unix_time_ms, first + 2);
}

TEST(Series, ADumpWithoutThreadsIsNotShown) {
  std::vector<Snapshot> series = three_dumps();
  series[2].threads.clear();
  const std::vector<Snapshot> back = to_series(series_recording(series));
  series.pop_back();
  expect_same(back, series);
}

// The last dump had no row: its locks are the recording's, and its processor times are in the table of threads.
Recording of_an_earlier_version(const std::vector<Snapshot>& series) {
  Recording recording = series_recording(series);
  recording.earlier_dumps.pop_back();
  const std::vector<Thread>& last = series.back().threads;
  for (std::size_t i = 0; i < last.size(); ++i) recording.threads[i].cpu = last[i].cpu;
  return recording;
}

TEST(Series, OfAnEarlierVersionGivesBackEachDump) {
  expect_same(to_series(of_an_earlier_version(three_dumps())), three_dumps());
}

TEST(Series, OfTheFirstVersionKnowsTheLastDumpOnly) {
  const std::vector<Snapshot> series = three_dumps();
  Recording recording = of_an_earlier_version(series);
  recording.earlier_dumps.clear();
  const std::vector<Snapshot> back = to_series(recording);
  ASSERT_EQ(back.size(), 3u);
  EXPECT_EQ(back[2], kept(series[2]));
  EXPECT_TRUE(back[0].locks.empty());
  EXPECT_EQ(back[0].locks_missing, "a series has the locks of its last dump only");
  EXPECT_FALSE(back[1].threads[1].cpu);
}

// The tables of all dumps come before the samples, so a file that is cut off has the locks of dumps whose stacks are
// missing.
TEST(Series, CutOffBehindItsFirstDumpsHasTheirLocks) {
  const std::vector<Snapshot> series = three_dumps();
  for (const std::size_t left : {1u, 2u}) {
    Recording cut = series_recording(series);
    const std::uint64_t end = cut.earlier_dumps[left - 1].time_ns;
    std::erase_if(cut.samples, [&](const Recording::Sample& sample) { return sample.time_ns > end; });
    const std::vector<Snapshot> back = to_series(cut);
    ASSERT_EQ(back.size(), left);
    for (std::size_t i = 0; i < left; ++i) {
      EXPECT_EQ(back[i].locks, series[i].locks);
      for (std::size_t t = 0; t < back[i].threads.size(); ++t) {
        EXPECT_EQ(back[i].threads[t].cpu, series[i].threads[t].cpu);
      }
    }
  }
}

// A file may have fewer processor times than samples, or more.
TEST(Series, ProcessorTimesOfAnotherNumberOfThreads) {
  Recording recording = series_recording(three_dumps());
  recording.earlier_dumps[0].cpu.resize(2);
  recording.earlier_dumps[1].cpu.resize(1000, 1);
  const std::vector<Snapshot> back = to_series(recording);
  ASSERT_EQ(back.size(), 3u);
  EXPECT_TRUE(back[0].threads[1].cpu);
  EXPECT_FALSE(back[0].threads[2].cpu);
  EXPECT_TRUE(back[1].threads[2].cpu);
}

}  // namespace
}  // namespace mixwalk
