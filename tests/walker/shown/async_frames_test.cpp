#include "walker/shown/async_frames.h"

#include <gtest/gtest.h>

#include "tests/builders/snapshot_builder.h"

namespace mixwalk {
namespace {

AsyncTask method(std::string name, std::vector<std::uint32_t> awaits) {
  AsyncTask task;
  task.kind = TaskKind::async_method;
  task.method = std::move(name);
  task.awaits = std::move(awaits);
  return task;
}

AsyncTask other(TaskKind kind, TaskStatus status = TaskStatus::waiting) {
  AsyncTask task;
  task.kind = kind;
  task.status = status;
  return task;
}

Snapshot dump_of(std::vector<AsyncTask> tasks, std::uint32_t waits_for = AsyncTask::kNone) {
  Snapshot snapshot;
  snapshot.tasks = std::move(tasks);
  snapshot.threads = {{.os_id = 0x1a0, .name = "ui"}};
  snapshot.threads[0].waits_for_task = waits_for;
  return snapshot;
}

std::vector<std::string> lines(const std::vector<AsyncFrame>& frames) {
  std::vector<std::string> out;
  for (const AsyncFrame& frame : frames) {
    out.push_back(std::string(2 * std::size_t{frame.depth}, ' ') + line_of(frame));
  }
  return out;
}

std::vector<std::string> lines_of(const Snapshot& snapshot, std::size_t thread = 0) {
  return lines(AsyncFrames(snapshot).of(snapshot.threads[thread]));
}

using Lines = std::vector<std::string>;

TEST(AsyncFrames, AContinuationThatWaitsForItsThread) {
  Snapshot snapshot = dump_of({method("Orders.Window+<LoadAsync>d__3.MoveNext()", {1}),
                               method("Orders.Client.FetchAsync()", {})},
                              0);
  snapshot.tasks[0].file = "C:\\src\\Window.cs";
  snapshot.tasks[0].line = 31;
  snapshot.tasks[1].status = TaskStatus::done;
  snapshot.tasks[1].not_resumed = true;
  snapshot.tasks[1].continues_on = 0;
  snapshot.contexts = {{.address = 0x40, .type = "Orders.Context", .thread = 0x1a0}};
  EXPECT_EQ(lines_of(snapshot),
            (Lines{"await Orders.Window.LoadAsync()  (Window.cs:31)",
                   "await Orders.Client.FetchAsync() → done, its continuation waits for thread 0x1a0 \"ui\""}));
  snapshot.contexts[0].thread = 0;
  EXPECT_EQ(lines_of(snapshot)[1], "await Orders.Client.FetchAsync() → done, its continuation waits for "
                                   "Orders.Context 0x40, whose thread is not known");
  snapshot.tasks[1].continues_on = AsyncTask::kNone;
  EXPECT_EQ(lines_of(snapshot)[1],
            "await Orders.Client.FetchAsync() → done, its continuation waits for the thread pool");
  snapshot.tasks[1].not_resumed = false;
  EXPECT_EQ(lines_of(snapshot)[1], "await Orders.Client.FetchAsync() → done");
}

// Behind Task.Yield(), the rest of the method is in a queue.
TEST(AsyncFrames, AMethodInAQueue) {
  Snapshot snapshot = dump_of({method("C.LoadAsync()", {})});
  snapshot.tasks[0].status = TaskStatus::queued;
  snapshot.tasks[0].await_number = 0;
  const auto line = [&] { return lines(AsyncFrames(snapshot).of(0)).at(0); };
  EXPECT_EQ(line(), "await C.LoadAsync() → its continuation is in a queue");
  snapshot.contexts = {{.address = 0x40, .type = "Orders.Context", .thread = 0x1a0}};
  snapshot.tasks[0].object = 0x40;
  EXPECT_EQ(line(), "await C.LoadAsync() → its continuation waits for thread 0x1a0 \"ui\"");
}

TEST(AsyncFrames, WhatEndsATask) {
  Snapshot snapshot = dump_of({other(TaskKind::delay), other(TaskKind::semaphore), other(TaskKind::completion_source),
                               other(TaskKind::channel), other(TaskKind::io), other(TaskKind::other),
                               other(TaskKind::delegate, TaskStatus::queued),
                               other(TaskKind::delegate, TaskStatus::running),
                               other(TaskKind::other, TaskStatus::faulted),
                               other(TaskKind::other, TaskStatus::cancelled), method("C.RunAsync()", {})});
  snapshot.tasks[0].due_ms = 14'200;
  snapshot.tasks[1].object = 0x40;
  snapshot.tasks[3].object = 0x80;
  snapshot.tasks[3].object_type = "System.Threading.Channels.UnboundedChannel<System.Int32>";
  snapshot.tasks[4].type = "System.Net.Sockets.Socket+AwaitableSocketAsyncEventArgs";
  snapshot.tasks[4].address = 0x90;
  snapshot.tasks[6].method = snapshot.tasks[7].method = "C+<>c.<Run>b__1_0()";
  snapshot.tasks[7].thread = 0x1a0;
  snapshot.locks = {{.kind = LockKind::semaphore, .address = 0x40, .sharers = {1, 0x1a0, 3, 4}}};
  const AsyncFrames frames(snapshot);
  const auto line = [&](std::uint32_t task) { return lines(frames.of(task)).at(0); };
  EXPECT_EQ(line(0), "await Task.Delay → due in 14.2 s");
  snapshot.tasks[0].due_ms = 0;
  EXPECT_EQ(line(0), "await Task.Delay → due now");
  EXPECT_EQ(line(1), "await SemaphoreSlim.WaitAsync of 0x40 → waits for a release by thread 0x1, thread 0x1a0 \"ui\", "
                     "thread 0x3, …");
  snapshot.locks[0].sharers.clear();
  snapshot.locks[0].task_holders = {10};
  EXPECT_EQ(line(1), "await SemaphoreSlim.WaitAsync of 0x40 → waits for a release by C.RunAsync()");
  EXPECT_EQ(line(2), "await TaskCompletionSource → nothing has completed it");
  EXPECT_EQ(line(3),
            "await System.Threading.Channels.UnboundedChannel<int> 0x80 → waits for the other end of the channel");
  EXPECT_EQ(line(4), "await System.Net.Sockets.Socket.AwaitableSocketAsyncEventArgs 0x90 → waits for input or output");
  EXPECT_EQ(line(5), "await a task 0x0 → not ended; it is not known what it waits for");
  EXPECT_EQ(line(6), "await C.Run.AnonymousMethod__1_0() → in a queue, and not begun");
  EXPECT_EQ(line(7), "await C.Run.AnonymousMethod__1_0() → runs on thread 0x1a0 \"ui\"");
  EXPECT_EQ(line(8), "await a task 0x0 → ended by an exception");
  EXPECT_EQ(line(9), "await a task 0x0 → cancelled");
  snapshot.tasks[9].not_resumed = true;
  snapshot.tasks[9].continues_on = 0;
  snapshot.contexts = {{.address = 0}};
  EXPECT_EQ(line(9),
            "await a task 0x0 → cancelled, its continuation waits for a queue that is not known");
  snapshot.tasks[10].object = 0x10;
  snapshot.tasks[10].object_type = "C.Source";
  EXPECT_EQ(line(10), "await C.RunAsync() → waits for C.Source 0x10");
}

TEST(AsyncFrames, OfAMethodThatGoesOnMeanwhile) {
  Snapshot snapshot = dump_of({method("C.RunAsync()", {})}, 0);
  snapshot.tasks[0].status = TaskStatus::running;
  EXPECT_EQ(lines_of(snapshot), Lines{"await C.RunAsync() → goes on"});
}

TEST(AsyncFrames, OfATaskThatADelegateReturns) {
  AsyncTask run = other(TaskKind::when_all);
  run.type = "System.Threading.Tasks.UnwrapPromise<System.Threading.Tasks.VoidTaskResult>";
  run.awaits = {1};
  EXPECT_EQ(lines_of(dump_of({run, method("C.LoadAsync()", {2}), other(TaskKind::delay)}, 0)),
            (Lines{"await Task.Run", "await C.LoadAsync()", "await Task.Delay → waits for a timer"}));
}

// Alike branches are one line with their count, those that have ended are counted only.
TEST(AsyncFrames, BranchesOfWhenAll) {
  std::vector<AsyncTask> tasks = {other(TaskKind::when_all)};
  for (std::uint32_t i = 0; i < 1000; ++i) {
    tasks[0].awaits.push_back(static_cast<std::uint32_t>(tasks.size()));
    tasks.push_back(method("C.WorkAsync()", {static_cast<std::uint32_t>(tasks.size()) + 1}));
    tasks.push_back(other(TaskKind::delay));
  }
  tasks[0].awaits.push_back(static_cast<std::uint32_t>(tasks.size()));
  tasks.push_back(other(TaskKind::other, TaskStatus::done));
  EXPECT_EQ(lines_of(dump_of(tasks, 0)), (Lines{"await Task.WhenAll → 1 of 1001 tasks ended",
                                                "  1000 × await C.WorkAsync()",
                                                "    await Task.Delay → waits for a timer"}));
  // The delays differ, so the branches do.
  for (std::uint32_t i = 0; i < 1000; ++i) tasks[2 + 2 * i].line = i;
  tasks[0].awaits_left_out = 7;
  const Lines many = lines_of(dump_of(tasks, 0));
  ASSERT_EQ(many.size(), 1 + 2 * kMaxAsyncBranches + 1);
  EXPECT_EQ(many[0], "await Task.WhenAll → 1 of 1008 tasks ended");
  EXPECT_EQ(many.back(), "  1002 more tasks");
}

TEST(AsyncFrames, TasksInACircle) {
  const Snapshot snapshot = dump_of({method("A()", {1}), method("B()", {2}), method("C()", {1}),
                                     method("D()", {3})},
                                    0);
  EXPECT_EQ(lines_of(snapshot), (Lines{"await A()", "await B()", "await C()",
                                       "await B() → a task of a line above: these tasks wait for each other"}));
  EXPECT_EQ(lines(AsyncFrames(snapshot).of(3)),
            (Lines{"await D()", "await D() → a task of a line above: these tasks wait for each other"}));
  const std::vector<TaskGroup> groups = AsyncFrames(snapshot).groups();
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].first, 3u);
}

TEST(AsyncFrames, ALongChainIsCut) {
  std::vector<AsyncTask> tasks;
  for (std::uint32_t i = 0; i < 100'000; ++i) tasks.push_back(method("A()", {i + 1}));
  tasks.push_back(other(TaskKind::delay));
  const Snapshot snapshot = dump_of(std::move(tasks), 0);
  const Lines all = lines_of(snapshot);
  ASSERT_EQ(all.size(), kMaxAsyncFrames + 1);
  EXPECT_EQ(all.back(), "more tasks follow");
}

// Each task waits for all that come after it: there are 2^62 ways through them.
TEST(AsyncFrames, ManyWaysAreCut) {
  std::vector<AsyncTask> tasks(64, other(TaskKind::when_all));
  for (std::uint32_t i = 0; i < tasks.size(); ++i) {
    tasks[i].line = i;
    for (std::uint32_t k = i + 1; k < tasks.size(); ++k) tasks[i].awaits.push_back(k);
  }
  const Lines all = lines_of(dump_of(std::move(tasks), 0));
  EXPECT_LE(all.size(), kMaxAsyncFrames + 1);
}

TEST(AsyncFrames, WhoWaitsForTheTaskThatAThreadRuns) {
  Snapshot snapshot = dump_of({method("A()", {}), method("B()", {0}), method("C()", {1}), method("D()", {1})});
  snapshot.tasks[0].status = TaskStatus::running;
  snapshot.tasks[0].thread = 0x1a0;
  EXPECT_EQ(lines_of(snapshot), (Lines{"awaited by B()", "awaited by C() → and 1 more task"}));
  EXPECT_TRUE(AsyncFrames(snapshot).groups().empty());
  snapshot.tasks[1].awaits = {0, 1};
  snapshot.tasks[2].awaits = snapshot.tasks[3].awaits = {};
  EXPECT_EQ(lines_of(snapshot).size(), 2u);  // a circle of callers ends too
}

TEST(AsyncFrames, ChainsThatAreBelowNoThread) {
  std::vector<AsyncTask> tasks;
  for (std::uint32_t i = 0; i < 3; ++i) {
    tasks.push_back(method("A()", {2 * i + 1}));
    tasks.push_back(other(TaskKind::delay));
  }
  tasks.push_back(method("B()", {7}));
  tasks.push_back(other(TaskKind::delay));
  tasks.push_back(method("Blocked()", {9}));
  tasks.push_back(other(TaskKind::delay));
  tasks.push_back(other(TaskKind::other, TaskStatus::done));
  const Snapshot snapshot = dump_of(std::move(tasks), 8);
  const std::vector<TaskGroup> groups = AsyncFrames(snapshot).groups();
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].first, 0u);
  EXPECT_EQ(groups[0].count, 3u);
  EXPECT_EQ(groups[1].first, 6u);
  EXPECT_EQ(groups[1].count, 1u);
}

TEST(AsyncFrames, NothingThatMovesATerminal) {
  Snapshot snapshot = representative_snapshot();
  add_async_work(snapshot);
  const AsyncFrames frames(snapshot);
  for (std::uint32_t i = 0; i < snapshot.tasks.size(); ++i) {
    for (const std::string& line : lines(frames.of(i))) {
      EXPECT_EQ(line.find_first_of("\x1b\n"), std::string::npos) << line;
    }
  }
}

TEST(AsyncFrames, ThePool) {
  EXPECT_EQ(pool_sentence({}), "");
  EXPECT_EQ(pool_sentence({.queued = 213, .workers = 16, .working = 16, .goal = 16, .min = 4, .max = 32767,
                           .items = {}}),
            "213 items queued, 16 of 16 workers at work, 16 may work now, limits 4 and 32767");
  EXPECT_EQ(pool_sentence({.queued = 1, .items = {}}), "1 item queued");
}

}  // namespace
}  // namespace mixwalk
