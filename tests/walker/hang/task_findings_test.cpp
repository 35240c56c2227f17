// Findings about waits that lead through tasks, contexts, the thread pool and locks with several holders.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>

#include "tests/builders/hang_builder.h"
#include "walker/hang/finding_words.h"
#include "walker/hang/findings.h"

namespace mixwalk {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using test::HangBuilder;
using test::main_thread;
using test::managed_thread;
using test::pool_thread;
using enum TaskStatus;
using enum TaskKind;

constexpr std::uint64_t kFirst = 1'795'412'335'000;
const std::string kWait = "ntdll!NtWaitForMultipleObjects";

std::vector<std::string> task_wait(std::string method = "M Orders.Form.OnClick()") {
  return {kWait,
          "coreclr!",
          "M System.Threading.Monitor.Wait(System.Object, System.Int32)",
          "M System.Threading.ManualResetEventSlim.Wait(System.Int32)",
          "M System.Threading.Tasks.Task.InternalWait(System.Int32)",
          std::move(method)};
}
const std::vector<std::string> kEnter = {kWait, "coreclr!", "M System.Threading.Monitor.Enter(System.Object)",
                                         "M Orders.Get()"};
const std::vector<std::string> kSlimEnter = {
    kWait,
    "coreclr!",
    "M System.Threading.WaitHandle.WaitOne()",
    "M System.Threading.ReaderWriterLockSlim.TryEnterWriteLockCore()",
    "M System.Threading.ReaderWriterLockSlim.EnterWriteLock()",
    "M Orders.Get()"};
const std::vector<std::string> kSemaphore = {kWait, "coreclr!", "M System.Threading.Monitor.Wait(System.Object)",
                                             "M System.Threading.SemaphoreSlim.Wait()", "M Orders.Get()"};
const std::vector<std::string> kJoin = {kWait, "coreclr!", "M System.Threading.Thread.Join()", "M Orders.Stop()"};
const std::vector<std::string> kNativeReply = {kWait, "orders_native!wait_for_reply", "P orders_native!wait_for_reply",
                                               "M Orders.Run()"};
const std::vector<std::string> kReceive = {kWait, "ws2_32!recv", "M System.Net.Sockets.Socket.Receive(System.Byte[])",
                                           "M Orders.Read()"};

AsyncTask async_task(std::string method, std::vector<std::uint32_t> awaits, std::string file = {},
                     std::uint32_t line = 0) {
  return {.kind = async_method, .method = std::move(method), .file = std::move(file), .line = line,
          .awaits = std::move(awaits)};
}

std::vector<Snapshot> dumps(std::size_t count, const std::function<void(HangBuilder&, std::size_t)>& fill) {
  std::vector<Snapshot> made;
  for (std::size_t i = 0; i < count; ++i) {
    HangBuilder builder(kFirst + i * 10'000);
    fill(builder, i);
    for (Thread& thread : builder.snapshot().threads) {
      if (!thread.cpu) thread.cpu = 10'000;
    }
    made.push_back(builder.snapshot());
  }
  return made;
}

Findings find(const std::vector<Snapshot>& of) { return find_hangs(of, std::vector<std::string>(of.size(), "a")); }
Findings find(std::size_t count, const std::function<void(HangBuilder&, std::size_t)>& fill) {
  return find(dumps(count, fill));
}

std::vector<FindingKind> kinds(const Findings& findings) {
  std::vector<FindingKind> kinds;
  for (const Finding& finding : findings.findings) kinds.push_back(finding.kind);
  return kinds;
}

const ThreadHistory& thread_of(const Findings& findings, std::uint32_t os_id) {
  return *std::ranges::find(findings.threads, os_id, &ThreadHistory::os_id);
}

// The thread 0x1a0 waits for a method that awaits one that is done, in the context that the thread `server` serves.
void context_program(HangBuilder& builder, std::uint32_t server) {
  builder.thread(0x1a0, managed_thread(task_wait()), "ui").waits_for(0);
  builder.task(async_task("Orders.Client.LoadAsync()", {1}, "C:\\src\\Client.cs", 42));
  builder.task({.kind = async_method, .status = done, .method = "Orders.Client.FetchAsync()", .continues_on = 0});
  builder.snapshot().contexts = {{0x9000, "Orders.UiContext", server}};
}

TEST(TaskFindingsTest, AContinuationThatWaitsForTheThreadThatWaitsForIt) {
  const Findings found = find(1, [](HangBuilder& builder, std::size_t) { context_program(builder, 0x1a0); });
  ASSERT_THAT(kinds(found), ElementsAre(FindingKind::context_deadlock));
  EXPECT_EQ(severity(found), Severity::deadlock);
  EXPECT_EQ(headline(found), "1 thread is deadlocked");
  const Finding& finding = found.findings[0];
  EXPECT_EQ(finding.title,
            "Deadlock: thread 0x1a0 \"ui\" waits for Orders.Client.LoadAsync(), which waits for "
            "Orders.Client.FetchAsync(), which is done; its continuation waits for that very thread");
  EXPECT_EQ(finding.threads[0].words, "waits for Orders.Client.LoadAsync()");
  EXPECT_THAT(finding.details, ::testing::Contains("Orders.Client.LoadAsync() (Client.cs:42) awaits "
                                                   "Orders.Client.FetchAsync()."));
  EXPECT_THAT(finding.details,
              ::testing::Contains("The continuation belongs to Orders.UiContext, which thread 0x1a0 serves."));
  ASSERT_EQ(finding.threads.size(), 1u);
  EXPECT_EQ(finding.threads[0].waits_for, FindingThread::kNoLock);
}

// As the frames of the stacks are named.
TEST(TaskFindingsTest, MethodsOfTasksHaveTheNamesThatProgrammersKnow) {
  const Findings found = find(1, [](HangBuilder& builder, std::size_t) {
    context_program(builder, 0x1a0);
    builder.snapshot().tasks[0].method = "Orders.Form+<>c__DisplayClass3_0.<Open>b__1(System.Int32)";
  });
  ASSERT_THAT(kinds(found), ElementsAre(FindingKind::context_deadlock));
  EXPECT_EQ(found.findings[0].threads[0].words, "waits for Orders.Form.Open.AnonymousMethod__3_1(int)");
  EXPECT_THAT(found.findings[0].details,
              ::testing::Contains("Orders.Form.Open.AnonymousMethod__3_1(int) (Client.cs:42) awaits "
                                  "Orders.Client.FetchAsync()."));
}

TEST(TaskFindingsTest, AThreadThatWaitsForALimitedTimeIsInNoDeadlock) {
  const Findings found = find(1, [](HangBuilder& builder, std::size_t) {
    std::vector<std::string> frames = task_wait("M System.Threading.Tasks.Task.Wait(System.TimeSpan)");
    frames.emplace_back("M Orders.Form.OnClick()");
    context_program(builder, 0x1a0);
    const std::uint32_t task = builder.last().waits_for_task;
    builder.snapshot().threads.clear();
    builder.thread(0x1a0, managed_thread(frames), "ui").waits_for(task);
  });
  EXPECT_EQ(severity(found), Severity::note);
}

// Of the methods of .NET, only the one that the program has called says whether the wait has a limit.
TEST(TaskFindingsTest, AWaitThatMayBeCancelledIsInNoDeadlock) {
  const auto of = [](const std::vector<std::string>& program) {
    return severity(find(1, [&](HangBuilder& builder, std::size_t) {
      std::vector<std::string> frames = task_wait();
      while (!frames.empty() && frames.back().starts_with("M Orders.")) frames.pop_back();
      frames.insert(frames.end(), program.begin(), program.end());
      context_program(builder, 0x1a0);
      const std::uint32_t task = builder.last().waits_for_task;
      builder.snapshot().threads.clear();
      builder.thread(0x1a0, managed_thread(frames), "ui").waits_for(task);
    }));
  };
  const std::string token = "M System.Threading.Tasks.Task.Wait(System.Threading.CancellationToken)";
  const std::string any = "M System.Threading.Tasks.Task.WaitAny(System.Threading.Tasks.Task[], System.Int32)";
  EXPECT_EQ(of({token, "M Orders.Form.OnClick()"}), Severity::note);
  const std::
      string
          time =
              "M System.Threading.Tasks.Task.Wait(System.Int32, "
              "System.Threading.CancellationToken)";  // of Wait(Int32), too
  EXPECT_EQ(of({any, "M Orders.Form.OnClick()"}), Severity::note);
  EXPECT_EQ(of({time, "M Orders.Form.OnClick()"}), Severity::note);
  EXPECT_EQ(of({time, "M System.Threading.Tasks.Task.Wait()", "M Orders.Form.OnClick()"}),
            Severity::deadlock);
  EXPECT_EQ(of({"M Orders.Form.OnClick()"}), Severity::deadlock);
  // A task that runs within another wait.
  EXPECT_EQ(of({"M Orders.Form.OnClick()", token, "M Orders.Form.Run()"}), Severity::deadlock);
}

// The JIT has made one method of Task.Wait() and of its caller. What the thread has told the system decides.
TEST(TaskFindingsTest, AWaitWhoseLimitIsReadFromTheStack) {
  const auto of = [](const std::string& method, ThreadTraits traits) {
    return severity(find(1, [&](HangBuilder& builder, std::size_t) {
      context_program(builder, 0x1a0);
      const std::uint32_t task = builder.last().waits_for_task;
      builder.snapshot().threads.clear();
      std::vector<std::string> frames = task_wait(method);
      frames.emplace_back("M Orders.Form.OnClick()");
      builder.thread(0x1a0, managed_thread(frames), "ui").waits_for(task);
      builder.last().traits = traits;
    }));
  };
  const std::string inlined =
      "M System.Threading.Tasks.Task.Wait(System.Int32, System.Threading.CancellationToken)";
  EXPECT_EQ(of(inlined, {}), Severity::note);
  EXPECT_EQ(of(inlined, {.unlimited = true}), Severity::deadlock);
  EXPECT_EQ(of(inlined, {.limited = true}), Severity::note);
  EXPECT_EQ(of("M System.Threading.Tasks.Task.Wait()", {}), Severity::deadlock);
  EXPECT_EQ(of("M System.Threading.Tasks.Task.Wait()", {.limited = true}), Severity::note);
}

// Thread 1 disposes of a registration under a lock for which its callback waits.
TEST(TaskFindingsTest, ACallbackThatWaitsForALockOfTheThreadThatWaitsForItsEnd) {
  const std::string sleep = "M System.Threading.Thread.Sleep(System.Int32)",
                    source = "M System.Threading.CancellationTokenSource";
  const auto found = [&](std::size_t dumps, const std::vector<std::string>& callback, bool locks) {
    return find(dumps, [&](HangBuilder& builder, std::size_t) {
      builder.thread(1, managed_thread({"ntdll!NtDelayExecution", "coreclr!", sleep,
                                        "M System.Threading.SpinWait.SpinOnceCore(System.Int32)",
                                        source + "+Registrations.WaitForCallbackToComplete(System.Int64)",
                                        "M Orders.Close()"}),
                     "closing");
      builder.cpu(1);
      std::vector<std::string> frames = callback;
      frames.insert(frames.end(), {source + ".ExecuteCallbackHandlers(System.Boolean)", "M Orders.Stop()"});
      builder.thread(2, managed_thread(frames), "stopping").cpu(1);
      builder.lock({.kind = LockKind::callback, .type = "System.Threading.CancellationToken", .owner = 2, .held = true,
                    .waiters = {{1}}});
      if (locks) builder.monitor(0xA0, 1, {2});
      // Another callback, for which nobody waits.
      builder.thread(3, managed_thread({"ntdll!NtDelayExecution", "coreclr!", sleep, "M Orders.Log()",
                                        source + ".ExecuteCallbackHandlers(System.Boolean)", "M Orders.Run()"}));
      builder.cpu(1);
    });
  };
  for (const std::size_t dumps : {1u, 2u}) {
    const Findings deadlock = found(dumps, kEnter, true);
    ASSERT_THAT(kinds(deadlock), ElementsAre(FindingKind::deadlock));
    EXPECT_EQ(deadlock.findings[0].threads[0].words,
              "waits for the end of a callback (System.Threading.CancellationToken), run by thread 0x2 \"stopping\"");
    EXPECT_THAT(deadlock.findings[0].threads[1].words, HasSubstr("held by thread 0x1 \"closing\""));
  }
  // The callback waits in native code.
  const Findings chain = found(2, {kWait, "orders_native!wait_for_reply", "P orders_native!wait_for_reply",
                                   "M Orders.Save()"}, false);
  ASSERT_THAT(kinds(chain), ElementsAre(FindingKind::chain));
  EXPECT_EQ(chain.findings[0].title, "1 thread waits for thread 0x2 \"stopping\"");
  EXPECT_THAT(chain.findings[0].threads[0].words, HasSubstr("has not reached the end of a callback"));
  // It sleeps.
  EXPECT_THAT(kinds(found(2, {"ntdll!NtDelayExecution", "coreclr!", sleep, "M Orders.Save()"}, false)), ElementsAre());
}

// Threads that take locks crosswise, and give up after a time.
TEST(TaskFindingsTest, LocksThatAreTriedForATimeAreInNoDeadlock) {
  const auto of = [](const std::vector<std::string>& wait) {
    std::vector<std::string> frames{kWait, "coreclr!"};
    for (const std::string& method : wait) frames.push_back("M System.Threading." + method);
    frames.emplace_back("M Orders.Get()");
    return severity(find(1, [&](HangBuilder& builder, std::size_t) {
      builder.thread(1, managed_thread(frames)).thread(2, managed_thread(frames));
      builder.monitor(0x1f40, 1, {2}).monitor(0x1f80, 2, {1});
    }));
  };
  EXPECT_EQ(of({"Monitor.Enter_Slowpath(System.Object)"}), Severity::deadlock);
  EXPECT_EQ(of({"Monitor.TryEnter_Slowpath(System.Object, System.Int32)"}), Severity::note);
  EXPECT_EQ(of({"Monitor.ReliableEnterTimeout(System.Object, System.Int32, System.Boolean&)"}),
            Severity::note);
  const std::string slow = "Lock.TryEnterSlow(System.Int32, System.Threading.Lock+ThreadId)";
  EXPECT_EQ(of({slow, "Lock.EnterScope()"}), Severity::deadlock);
  EXPECT_EQ(of({slow}), Severity::deadlock);
  EXPECT_EQ(of({slow, "Lock.TryEnter_Outlined(System.Int32)"}), Severity::note);
  const std::string core =
      "SemaphoreSlim.WaitCore(System.Int64, System.Threading.CancellationToken)";
  EXPECT_EQ(of({core, "SemaphoreSlim.Wait()"}), Severity::deadlock);
  EXPECT_EQ(of({core}), Severity::note);
  EXPECT_EQ(of({core, "SemaphoreSlim.Wait(System.Int32)"}), Severity::note);
  const std::string write = "ReaderWriterLockSlim.TryEnterWriteLockCore(TimeoutTracker)";
  EXPECT_EQ(of({write, "ReaderWriterLockSlim.EnterWriteLock()"}), Severity::deadlock);
  EXPECT_EQ(of({write}), Severity::note);
}

// The leaf of a thread of a single-threaded apartment, which handles messages while it waits.
const std::vector<std::string> kApartment = {"win32u!NtUserMsgWaitForMultipleObjectsEx",
                                             "user32!MsgWaitForMultipleObjectsEx", "combase!CoWaitForMultipleHandles",
                                             "coreclr!"};
// The leaf of a thread whose SynchronizationContext waits for it.
const std::vector<std::string> kContextWaits = {
    kWait, "coreclr!", "M System.Threading.SynchronizationContext.WaitHelper(System.IntPtr[])",
    "M Orders.UiContext.Wait(System.IntPtr[], System.Boolean, System.Int32)",
    "M System.Threading.SynchronizationContext.InvokeWaitMethodHelper(System.Threading.SynchronizationContext)",
    "coreclr!"};

// The method of .NET that the program has called is behind the methods of the context.
TEST(TaskFindingsTest, AWaitOfLimitedTimeForWhichTheContextWaitsIsInNoDeadlock) {
  const auto of = [](const std::vector<std::string>& leaf, const std::string& method) {
    return severity(find(1, [&](HangBuilder& builder, std::size_t) {
      context_program(builder, 0x1a0);
      const std::uint32_t task = builder.last().waits_for_task;
      builder.snapshot().threads.clear();
      std::vector<std::string> frames = leaf;
      const std::vector<std::string> wait = task_wait(method);
      frames.insert(frames.end(), wait.begin() + 2, wait.end());
      frames.emplace_back("M Orders.Form.OnClick()");
      builder.thread(0x1a0, managed_thread(frames), "ui").waits_for(task);
    }));
  };
  for (const std::vector<std::string>& leaf : {kApartment, kContextWaits}) {
    EXPECT_EQ(of(leaf, "M System.Threading.Tasks.Task.Wait()"), Severity::deadlock);
    EXPECT_EQ(of(leaf, "M System.Threading.Tasks.Task.Wait(System.TimeSpan)"), Severity::note);
    EXPECT_EQ(of(leaf, "M System.Threading.Tasks.Task.Wait(System.Int32, System.Threading.CancellationToken)"),
              Severity::note);
  }
}

// .NET 8: the JIT may have made one method of Monitor.TryEnter and of its caller.
TEST(TaskFindingsTest, AMonitorWhoseLimitIsInNoKnownPlaceIsInNoDeadlock) {
  const auto of = [](std::vector<std::string> frames, const std::string& method = {}, ThreadTraits traits = {}) {
    if (!method.empty()) frames.push_back(method);
    frames.emplace_back("M Orders.Get()");
    return severity(find(1, [&](HangBuilder& builder, std::size_t) {
      builder.thread(1, managed_thread(frames));
      builder.last().traits = traits;
      builder.thread(2, managed_thread(kEnter)).monitor(0x1f40, 1, {2}).monitor(0x1f80, 2, {1});
    }));
  };
  EXPECT_EQ(of({kWait, "coreclr!"}), Severity::deadlock);  // timeouts.h would have found a limit
  for (const std::vector<std::string>& leaf : {kApartment, kContextWaits}) {
    EXPECT_EQ(of(leaf), Severity::note);
    EXPECT_EQ(of(leaf, {}, {.unlimited = true}), Severity::deadlock);
    EXPECT_EQ(of(leaf, "coreclr!JIT_MonReliableEnter"), Severity::deadlock);
    EXPECT_EQ(of(leaf, "coreclr!JIT_MonTryEnter"), Severity::note);
    EXPECT_EQ(of(leaf, "M System.Threading.Monitor.Enter(System.Object)"), Severity::deadlock);
    EXPECT_EQ(of(leaf, "M System.Threading.Monitor.TryEnter(System.Object, System.Int32)"), Severity::note);
  }
}

// Mutexes are waited for by WaitHandle, and a wait chain of the system says who owns them.
TEST(TaskFindingsTest, MutexesThatAreWaitedForALimitedTimeAreInNoDeadlock) {
  const auto of = [](const std::vector<std::string>& methods) {
    std::vector<std::string> frames{kWait, "coreclr!"};
    for (const std::string& method : methods) frames.push_back("M System.Threading.WaitHandle." + method);
    frames.emplace_back("M Orders.Get()");
    return severity(find(1, [&](HangBuilder& builder, std::size_t) {
      builder.thread(1, managed_thread(frames)).thread(2, managed_thread(frames));
      for (const std::uint32_t owner : {1u, 2u}) {
        builder.lock({.kind = LockKind::mutex, .owner = owner, .held = true, .waiters = {{3 - owner}}});
      }
    }));
  };
  EXPECT_EQ(of({"WaitOneNoCheck(System.Int32)", "WaitOne()"}), Severity::deadlock);
  EXPECT_EQ(of({"WaitOneNoCheck(System.Int32)", "WaitOne(System.Int32)"}), Severity::note);
  EXPECT_EQ(of({"WaitOneNoCheck(System.Int32)"}), Severity::note);
}

TEST(TaskFindingsTest, AContextWhoseThreadIsNotProvenIsUnclear) {
  const Findings found = find(2, [](HangBuilder& builder, std::size_t) { context_program(builder, 0); });
  ASSERT_THAT(kinds(found), ElementsAre(FindingKind::unclear_task));
  EXPECT_EQ(severity(found), Severity::note);
  EXPECT_EQ(thread_of(found, 0x1a0).verdict, Verdict::unclear);
  EXPECT_THAT(found.findings[0].details[0], HasSubstr("posted to Orders.UiContext. It is not known which thread"));
}

// The thread that serves the context handles messages, and will run the continuation.
TEST(TaskFindingsTest, AContextWhoseThreadIsIdleHoldsNobodyUp) {
  const Findings found = find(2, [](HangBuilder& builder, std::size_t) {
    context_program(builder, 0x2);
    builder.thread(0x2, managed_thread({"win32u!NtUserGetMessage", "M System.Windows.Forms.Application.Run()"}));
  });
  EXPECT_THAT(kinds(found), ElementsAre());
  EXPECT_EQ(headline(found), "nothing is stuck");
}

TEST(TaskFindingsTest, AContinuationWaitsBeforeTheAwaitedTaskHasEnded) {
  const Findings found = find(1, [](HangBuilder& builder, std::size_t) {
    context_program(builder, 0x1a0);
    builder.snapshot().tasks[1] = {.kind = delay, .continues_on = 0, .due_ms = 12'000};
  });
  ASSERT_THAT(kinds(found), ElementsAre(FindingKind::context_deadlock));
  EXPECT_THAT(found.findings[0].title,
              HasSubstr("waits for Orders.Client.LoadAsync(), whose continuation needs that very thread"));
}

TEST(TaskFindingsTest, AThreadOfAContextThatWaitsForALockOfTheWaitingThread) {
  const Findings found = find(1, [](HangBuilder& builder, std::size_t) {
    context_program(builder, 0x2);
    builder.thread(0x2, managed_thread(kEnter), "loop").monitor(0x1f40, 0x1a0, {0x2});
  });
  ASSERT_THAT(kinds(found), ElementsAre(FindingKind::context_deadlock));
  EXPECT_EQ(found.findings[0].title, "Deadlock of 2 threads: a continuation waits for thread 0x2 \"loop\"");
  EXPECT_THAT(found.findings[0].threads[0].words, HasSubstr("held by thread 0x1a0 \"ui\""));
  EXPECT_THAT(found.findings[0].threads[1].words, HasSubstr("its continuation waits for thread 0x2 \"loop\""));
}

// One method has the first semaphore and waits for the second one, the other method the reverse. No thread waits.
void crossed_semaphores(HangBuilder& builder, std::uint32_t entered) {
  for (const std::uint32_t i : {0u, 1u}) {
    builder.task(async_task(i == 0 ? "Orders.Bank.PayAsync()" : "Orders.Bank.RefundAsync()", {i + 2}));
    builder.lock({.kind = LockKind::semaphore, .address = i == 0 ? 0xA0u : 0xB0u, .held = true, .recursion = entered,
                  .task_holders = {i}});
  }
  builder.task({.kind = TaskKind::semaphore, .object = 0xB0}).task({.kind = TaskKind::semaphore, .object = 0xA0});
}

TEST(TaskFindingsTest, AsyncMethodsThatTakeTwoSemaphoresCrosswise) {
  const Findings found = find(1, [](HangBuilder& builder, std::size_t) {
    crossed_semaphores(builder, 1);
    builder.thread(1, managed_thread(task_wait())).waits_for(0);
  });
  ASSERT_THAT(kinds(found), ElementsAre(FindingKind::async_cycle));
  EXPECT_EQ(severity(found), Severity::deadlock);
  EXPECT_EQ(found.findings[0].title, "Deadlock of 2 tasks that wait for each other");
  EXPECT_THAT(found.findings[0].details, ::testing::Contains("Orders.Bank.PayAsync() awaits the semaphore 0xb0."));
  EXPECT_EQ(found.findings[0].threads.size(), 1u);
  EXPECT_THAT(thread_of(found, 1).last().wait.words,
              HasSubstr("waits for Orders.Bank.PayAsync(), which waits for the semaphore 0xb0, held by "
                        "Orders.Bank.RefundAsync(), which waits for the semaphore 0xa0, held by"));
}

TEST(TaskFindingsTest, TasksWaitForEachOtherAlthoughNoThreadWaits) {
  const Findings found = find(1, [](HangBuilder& builder, std::size_t) {
    crossed_semaphores(builder, 1);
    builder.thread(1, managed_thread({"orders_native!crunch", "M Orders.Run()"}));
  });
  EXPECT_THAT(kinds(found), ElementsAre(FindingKind::async_cycle));
  EXPECT_EQ(headline(found), "tasks are deadlocked");
}

// A third method may have entered a semaphore that two may enter.
TEST(TaskFindingsTest, ASemaphoreWhoseHoldersAreNotAllKnownIsNoDeadlock) {
  for (const std::uint32_t entered : {0u, 2u}) {
    const Findings found = find(2, [&](HangBuilder& builder, std::size_t) {
      crossed_semaphores(builder, entered);
      builder.thread(1, managed_thread(task_wait())).waits_for(0);
    });
    ASSERT_THAT(kinds(found), ElementsAre(FindingKind::unclear_task));
    EXPECT_EQ(thread_of(found, 1).verdict, Verdict::unclear);
  }
}

// `await gate.WaitAsync(); await gate.WaitAsync();`
TEST(TaskFindingsTest, ASemaphoreThatOneMethodEntersTwice) {
  const auto found = [](std::uint32_t entered, bool thread_holds = false) {
    return find(1, [&](HangBuilder& builder, std::size_t) {
      builder.thread(1, managed_thread(task_wait())).waits_for(0);
      builder.task(async_task("Orders.Bank.PayAsync()", {1})).task({.kind = TaskKind::semaphore, .object = 0xA0});
      Lock gate{.kind = LockKind::semaphore, .address = 0xA0, .held = true, .recursion = entered};
      if (thread_holds) {
        gate.sharers = {1};
      } else {
        gate.task_holders = {0};
      }
      builder.lock(gate);
    });
  };
  const Findings one = found(1);
  ASSERT_THAT(kinds(one), ElementsAre(FindingKind::async_cycle));
  EXPECT_EQ(severity(one), Severity::deadlock);
  EXPECT_EQ(one.findings[0].title, "Deadlock of a task that waits for a semaphore that it has entered itself");
  const std::string who = "another thread or task may have entered it too, and may release it.";
  for (const bool thread_holds : {false, true}) {
    const Findings many = found(0, thread_holds);
    ASSERT_THAT(kinds(many), ElementsAre(FindingKind::unclear_task));
    EXPECT_THAT(many.findings[0].details,
                ElementsAre("It is not known how many can enter the semaphore 0xa0. So " + who));
    EXPECT_THAT(thread_of(many, 1).last().wait.words,
                HasSubstr(thread_holds ? "the semaphore 0xa0, held by that very thread"
                                       : "the semaphore 0xa0, held by Orders.Bank.PayAsync()"));
    EXPECT_THAT(found(2, thread_holds).findings[0].details,
                ElementsAre("2 can enter the semaphore 0xa0, and only 1 that has entered it is known. So " + who));
  }
}

// Two threads that each wait for a lock of the other one, whatever the locks are.
Findings crosswise(const Lock& first, const Lock& second, const std::vector<std::string>& first_wait,
                   const std::vector<std::string>& second_wait) {
  return find(1, [&](HangBuilder& builder, std::size_t) {
    builder.thread(1, managed_thread(first_wait)).thread(2, managed_thread(second_wait));
    builder.lock(first).lock(second);
  });
}

TEST(TaskFindingsTest, LocksOfAnyKindThatAreTakenCrosswise) {
  const auto lock = [](LockKind kind, std::uint32_t owner, std::uint32_t waiter, bool shared = false) {
    Lock made{.kind = kind, .address = 0x100u * owner, .held = true, .recursion = 1, .waiters = {{waiter}}};
    if (shared) {
      made.sharers = {owner};
    } else {
      made.owner = owner;
    }
    return made;
  };
  using enum LockKind;
  // Two Joins, a Join and a monitor, two mutexes, two semaphores, two ReaderWriterLockSlims (writers, readers), a
  // reader and a monitor, a semaphore and a monitor.
  const std::vector<std::pair<Lock, Lock>> pairs = {
      {lock(thread_end, 2, 1), lock(thread_end, 1, 2)},
      {lock(thread_end, 2, 1), lock(monitor, 1, 2)},
      {lock(mutex, 2, 1), lock(mutex, 1, 2)},
      {lock(LockKind::semaphore, 2, 1, true), lock(LockKind::semaphore, 1, 2, true)},
      {lock(threading_lock, 2, 1), lock(threading_lock, 1, 2)},
      {lock(threading_lock, 2, 1, true), lock(threading_lock, 1, 2, true)},
      {lock(threading_lock, 2, 1, true), lock(monitor, 1, 2)},
      {lock(LockKind::semaphore, 2, 1, true), lock(monitor, 1, 2)}};
  for (const auto& [first, second] : pairs) {
    const Findings found = crosswise(first, second, kSlimEnter, kSlimEnter);
    ASSERT_THAT(kinds(found), ElementsAre(FindingKind::deadlock)) << words_of(first);
    EXPECT_EQ(found.findings[0].title, "Deadlock of 2 threads");
    EXPECT_EQ(found.findings[0].threads.size(), 2u);
  }
}

// Each of two threads has entered one semaphore and waits for the other one, but more threads may have entered them.
TEST(TaskFindingsTest, SemaphoresThatManyMayEnterAreTakenCrosswise) {
  const auto found = [](std::size_t count, std::uint32_t entered, bool goes_on = false) {
    return find(count, [&](HangBuilder& builder, std::size_t i) {
      builder.thread(1, managed_thread(kSemaphore), "printing").cpu(goes_on ? i * 900 : 1);
      builder.thread(2, managed_thread(kSemaphore), "scanning").cpu(1);
      for (const std::uint32_t holder : {1u, 2u}) {
        builder.lock({.kind = LockKind::semaphore, .address = 0xA0 * holder, .held = true, .recursion = entered,
                      .waiters = {{3 - holder}}, .sharers = {holder}});
      }
    });
  };
  for (const std::size_t count : {1u, 2u}) {
    for (const std::uint32_t entered : {0u, 2u}) {
      const Findings one = found(count, entered);
      ASSERT_THAT(kinds(one), ElementsAre(FindingKind::chain));
      EXPECT_EQ(severity(one), Severity::note);
      EXPECT_EQ(one.findings[0].title, "2 threads may wait for each other");
      EXPECT_THAT(one.findings[0].details,
                  ElementsAre((entered == 0 ? "It is not known how many can enter the semaphore 0x140."
                                            : "2 can enter the semaphore 0x140, and only 1 that has entered it is "
                                              "known.") +
                              std::string(" So another thread or task may have entered it too, and may release it.")));
      ASSERT_EQ(one.findings[0].threads.size(), 2u);
      EXPECT_EQ(one.findings[0].threads[0].words,
                "waits for the semaphore 0x140, held by thread 0x2 \"scanning\"");
      EXPECT_EQ(one.findings[0].threads[1].words, "waits for the semaphore 0xa0, held by thread 0x1 \"printing\"");
      if (count == 2) {
        EXPECT_EQ(thread_of(one, 1).verdict, Verdict::unclear);
      }
    }
  }
  EXPECT_THAT(kinds(found(2, 1)), ElementsAre(FindingKind::deadlock));
  EXPECT_THAT(kinds(found(2, 0, true)), ElementsAre());
}

TEST(TaskFindingsTest, AJoinOfLimitedTimeIsInNoDeadlock) {
  const auto found = [](const std::string& method) {
    return crosswise({.kind = LockKind::thread_end, .owner = 2, .held = true, .waiters = {{1}}},
                     {.address = 0x100, .owner = 1, .held = true, .waiters = {{2}}},
                     {kWait, "coreclr!", "M System.Threading.Thread.Join(System.Int32)", method, "M Orders.Stop()"},
                     kEnter);
  };
  EXPECT_EQ(severity(found("M System.Threading.Thread.Join()")), Severity::deadlock);
  EXPECT_EQ(severity(found("M System.Threading.Thread.Join(System.TimeSpan)")), Severity::note);
  EXPECT_EQ(severity(found("M Orders.StopSoon()")), Severity::note);
}

// Thread 1 runs a task and waits for the end of thread 2, which waits for that task.
TEST(TaskFindingsTest, AJoinOfAThreadThatWaitsForATaskOfTheJoiningThread) {
  const Findings found = find(1, [](HangBuilder& builder, std::size_t) {
    builder.thread(1, managed_thread(kJoin), "closing");
    builder.thread(2, managed_thread(task_wait()), "saving").waits_for(0);
    builder.task({.kind = delegate, .status = running, .method = "Orders.Close()", .thread = 1});
    builder.lock({.kind = LockKind::thread_end, .owner = 2, .held = true, .waiters = {{1}}});
  });
  ASSERT_THAT(kinds(found), ElementsAre(FindingKind::async_cycle));
  EXPECT_EQ(found.findings[0].threads.size(), 2u);
}

TEST(TaskFindingsTest, AWriterWaitsForAllReaders) {
  const auto found = [](std::vector<std::uint32_t> readers) {
    return find(1, [&](HangBuilder& builder, std::size_t) {
      builder.thread(1, managed_thread(kSlimEnter)).thread(2, managed_thread(kEnter));
      builder.thread(3, managed_thread({"orders_native!crunch", "M Orders.Run()"})).monitor(0x1f40, 1, {2});
      builder.lock({.kind = LockKind::threading_lock, .address = 0x2000, .type = "System.Slim", .held = true,
                    .waiters = {{1}}, .sharers = std::move(readers)});
    });
  };
  ASSERT_THAT(kinds(found({2, 3})), ElementsAre(FindingKind::deadlock));
  EXPECT_THAT(found({2, 3}).findings[0].threads[0].words, HasSubstr("held by thread 0x2 and 1 more"));
  EXPECT_EQ(severity(found({3})), Severity::note);
}

// A thread that may write later is a reader until it writes.
TEST(TaskFindingsTest, AReaderThatWaitsToWriteWaitsForTheOtherReaders) {
  const auto found = [](const std::vector<std::string>& other, bool waits) {
    return find(1, [&](HangBuilder& builder, std::size_t) {
      builder.thread(1, managed_thread(kSlimEnter)).thread(2, managed_thread(other));
      builder.lock({.kind = LockKind::threading_lock, .address = 0x2000, .held = true, .waiters = {{1}},
                    .sharers = {1, 2}});
      if (waits) builder.snapshot().locks[0].waiters.push_back({2});
    });
  };
  EXPECT_EQ(severity(found({"orders_native!crunch", "M Orders.Run()"}, false)), Severity::note);
  EXPECT_EQ(severity(found(kSlimEnter, true)), Severity::deadlock);
  const Findings alone = find(1, [&](HangBuilder& builder, std::size_t) {
    builder.thread(1, managed_thread(kSlimEnter));
    builder.lock({.kind = LockKind::threading_lock, .address = 0x2000, .held = true, .waiters = {{1}}, .sharers = {1}});
  });
  EXPECT_EQ(severity(alone), Severity::note);
}

// A reader waits for a thread that asks to write later, as another one may already.
TEST(TaskFindingsTest, AReaderThatWaitsForAThreadThatAsksToWriteLater) {
  const std::vector<std::string> asks = {kWait, "coreclr!", "M System.Threading.WaitHandle.WaitOne(System.Int32)",
                                         "M System.Threading.ReaderWriterLockSlim.TryEnterUpgradeableReadLockCore()",
                                         "M System.Threading.ReaderWriterLockSlim.EnterUpgradeableReadLock()",
                                         "M Orders.Put()"};
  const auto found = [&](bool writes) {
    return find(1, [&](HangBuilder& builder, std::size_t) {
      builder.thread(1, managed_thread(writes ? kSlimEnter : kNativeReply), "upgrading");
      builder.thread(2, managed_thread(kJoin), "reading").thread(3, managed_thread(asks), "asking");
      builder.lock({.kind = LockKind::thread_end, .owner = 3, .held = true, .waiters = {{2}}});
      builder.lock({.kind = LockKind::threading_lock, .address = 0x2000, .owner = 1, .held = true, .waiters = {{3}}});
      if (!writes) return;
      builder.lock({.kind = LockKind::threading_lock, .address = 0x2000, .held = true, .recursion = 2,
                    .waiters = {{1}}, .sharers = {1, 2}});
    });
  };
  ASSERT_THAT(kinds(found(true)), ElementsAre(FindingKind::deadlock));
  EXPECT_EQ(found(true).findings[0].threads.size(), 3u);
  EXPECT_EQ(severity(found(false)), Severity::note);
}

// A thread reads, and waits for a task that is to write.
TEST(TaskFindingsTest, AReaderThatWaitsForATaskThatWrites) {
  const Findings found = find(1, [&](HangBuilder& builder, std::size_t) {
    builder.thread(1, managed_thread(task_wait()), "raising").waits_for(0).thread(2, pool_thread(kSlimEnter));
    builder.task({.kind = delegate, .status = running, .method = "Orders.WriteRates()", .thread = 2});
    builder.lock({.kind = LockKind::threading_lock, .address = 0x2000, .held = true, .waiters = {{2}}, .sharers = {1}});
  });
  ASSERT_THAT(kinds(found), ElementsAre(FindingKind::async_cycle));
  EXPECT_EQ(found.findings[0].threads.size(), 2u);
}

// One of the two threads that had entered the semaphore has left it, and another one has entered it.
TEST(TaskFindingsTest, AWaiterOfASemaphoreThatOneOfItsHoldersHasLeftIsNotStuck) {
  const auto verdict = [](std::uint32_t last) {
    const Findings found = find(2, [&](HangBuilder& builder, std::size_t dump) {
      for (std::uint32_t id = 2; id <= 4; ++id) builder.thread(id, managed_thread(kNativeReply)).cpu(1);
      builder.thread(1, managed_thread(kSemaphore)).cpu(1);
      builder.lock({.kind = LockKind::semaphore, .address = 0x2000, .held = true, .recursion = 2, .waiters = {{1}},
                    .sharers = {2, dump == 0 ? 3 : last}});
    });
    return std::ranges::find(found.threads, 1u, &ThreadHistory::os_id)->verdict;
  };
  EXPECT_EQ(verdict(3), Verdict::stuck);
  EXPECT_EQ(verdict(4), Verdict::waiting);
}

// A semaphore that two threads have entered is free for the next one as soon as either leaves it.
TEST(TaskFindingsTest, OneHolderOfASemaphoreThatGoesOnIsEnough) {
  const auto found = [](const std::vector<std::string>& frames) {
    return find(1, [&](HangBuilder& builder, std::size_t) {
      builder.thread(1, managed_thread(kSemaphore)).thread(2, managed_thread(kEnter)).monitor(0x1f40, 1, {2, 3});
      builder.thread(3, managed_thread(frames));
      if (frames != kEnter) builder.snapshot().locks[0].waiters.pop_back();
      builder.lock({.kind = LockKind::semaphore, .address = 0x2000, .held = true, .recursion = 2, .waiters = {{1}},
                    .sharers = {2, 3}});
    });
  };
  EXPECT_EQ(severity(found(kEnter)), Severity::deadlock);
  EXPECT_EQ(severity(found({"orders_native!crunch", "M Orders.Run()"})), Severity::note);
}

// Thread 1 holds a monitor and waits for a task that thread 2 runs, and thread 2 waits for the monitor.
TEST(TaskFindingsTest, ATaskWhoseThreadWaitsForALockOfTheWaitingThread) {
  const Findings found = find(1, [](HangBuilder& builder, std::size_t) {
    builder.thread(1, managed_thread(task_wait()), "main").waits_for(0);
    builder.thread(2, pool_thread(kEnter)).monitor(0x1f40, 1, {2});
    builder.task({.kind = delegate, .status = running, .method = "Orders.Work()", .thread = 2});
  });
  ASSERT_THAT(kinds(found), ElementsAre(FindingKind::async_cycle));
  EXPECT_EQ(found.findings[0].title, "Deadlock of 2 threads and 1 task that wait for each other");
  EXPECT_EQ(found.findings[0].threads[0].words, "waits for Orders.Work(), which runs on thread 0x2");
}

// Thread 2 runs the task for which thread 1 waits, and has made a COM call into the apartment of thread 1.
TEST(TaskFindingsTest, ATaskThatMakesACallIntoTheApartmentOfTheWaitingThread) {
  const std::vector<std::string> call = {kWait, "combase!", "combase!", "C Orders.IOrders.Submit()",
                                         "M Orders.Work()"};
  const auto found = [&](std::uint32_t server) {
    return find(1, [&](HangBuilder& builder, std::size_t) {
      builder.thread(1, managed_thread(task_wait()), "ui").waits_for(0).thread(2, pool_thread(call));
      builder.thread(3, managed_thread({"orders_native!crunch", "M Orders.Serve()"}));
      builder.task(async_task("Orders.Client.SubmitAsync()", {1}));
      builder.task({.kind = delegate, .status = running, .method = "Orders.Work()", .thread = 2});
      builder.lock({.kind = LockKind::com_call, .owner = server, .held = true, .waiters = {{2}}});
    });
  };
  const Findings cycle = found(1);
  ASSERT_THAT(kinds(cycle), ElementsAre(FindingKind::async_cycle));
  EXPECT_EQ(severity(cycle), Severity::deadlock);
  EXPECT_EQ(cycle.findings[0].title, "Deadlock of 2 threads and 2 tasks that wait for each other");
  ASSERT_EQ(cycle.findings[0].threads.size(), 2u);
  EXPECT_EQ(cycle.findings[0].threads[0].words,
            "waits for Orders.Client.SubmitAsync(), which waits for Orders.Work(), which runs on thread 0x2");
  EXPECT_EQ(cycle.findings[0].threads[1].words,
            "waits for the answer to a COM call, to be given by thread 0x1 \"ui\"");
  // Another apartment, whose thread works.
  EXPECT_EQ(severity(found(3)), Severity::note);
}

// Real case: a timer's callback that waits for Timer.DisposeAsync, which waits for the callback.
TEST(TaskFindingsTest, ATimerThatDisposesOfItselfInItsCallback) {
  const Findings found = find(1, [](HangBuilder& builder, std::size_t) {
    builder.thread(1, pool_thread(task_wait("M Orders.Poll(System.Object)"))).waits_for(0);
    builder.task({.kind = completion_source, .status = running, .thread = 1});
  });
  ASSERT_THAT(kinds(found), ElementsAre(FindingKind::async_cycle));
  EXPECT_EQ(found.findings[0].threads[0].words,
            "waits for the end of a timer's callback (Timer.DisposeAsync), which runs on that very thread");
}

TEST(TaskFindingsTest, AThreadThatWaitsForATaskOfAStuckThreadStandsBehindIt) {
  const Findings found = find(2, [](HangBuilder& builder, std::size_t) {
    builder.thread(1, managed_thread(task_wait())).waits_for(0).thread(2, pool_thread(kNativeReply));
    builder.task({.kind = delegate, .status = running, .method = "Orders.Work()", .thread = 2});
  });
  ASSERT_THAT(kinds(found), ElementsAre(FindingKind::chain));
  EXPECT_EQ(found.findings[0].title, "1 thread waits for thread 0x2");
  EXPECT_THAT(found.findings[0].threads[0].words, HasSubstr("runs Orders.Work() and waits in native code"));
  EXPECT_EQ(headline(found), "2 threads are stuck");
}

// A thread that takes orders from a socket, and Main, which waits for its task.
TEST(TaskFindingsTest, ATaskThatIsWorkWithoutAnEndHoldsNobodyUp) {
  for (const auto& frames : {kReceive, std::vector<std::string>{"orders_native!crunch", "M Orders.Run()"}}) {
    for (const std::size_t count : {1, 2}) {
      const Findings found = find(count, [&](HangBuilder& builder, std::size_t i) {
        builder.thread(1, pool_thread(task_wait())).waits_for(0).thread(2, managed_thread(frames)).cpu(9'900 * i);
        if (frames == kReceive) builder.cpu(1);
        builder.task({.kind = delegate, .status = running, .method = "Orders.Serve()", .thread = 2});
      });
      for (const Finding& finding : found.findings) EXPECT_EQ(finding.kind, FindingKind::spinning);
      EXPECT_EQ(severity(found), Severity::note);
    }
  }
}

// What these threads of the pool wait for ends by itself, or belongs to somebody else.
TEST(TaskFindingsTest, AThreadOfThePoolThatWaitsForATimerOrForDataIsNotStuck) {
  for (const AsyncTask& leaf : {AsyncTask{.kind = delay, .due_ms = 12'000},
                                AsyncTask{.kind = channel, .object_type = "System.Threading.Channels.Channel"},
                                AsyncTask{.kind = io, .object_type = "System.Net.Sockets.Socket"}}) {
    const Findings found = find(2, [&](HangBuilder& builder, std::size_t) {
      builder.thread(1, pool_thread(task_wait())).waits_for(0).task(async_task("Orders.Client.FetchAsync()", {1}));
      builder.task(leaf);
    });
    EXPECT_THAT(kinds(found), ElementsAre());
    EXPECT_EQ(headline(found), "nothing is stuck");
    EXPECT_EQ(found.threads[0].verdict, Verdict::waiting);
  }
}

TEST(TaskFindingsTest, TheWordsOfAWaitNameTheTaskAndItsEnd) {
  const auto words = [](AsyncTask leaf) {
    return find(1,
                [&](HangBuilder& builder, std::size_t) {
                  builder.snapshot().pool.queued = 1;
                  builder.thread(1, managed_thread(task_wait())).waits_for(0);
                  builder.task(async_task("Orders.Client.FetchAsync()", {1})).task(std::move(leaf));
                })
        .threads[0]
        .last()
        .wait.words;
  };
  EXPECT_EQ(words({.kind = delay, .due_ms = 12'000}),
            "waits for Orders.Client.FetchAsync(), which waits for a timer that ends in 12 s");
  EXPECT_EQ(words({.kind = io, .object_type = "System.Net.Sockets.Socket"}),
            "waits for Orders.Client.FetchAsync(), which waits for input or output (System.Net.Sockets.Socket)");
  EXPECT_EQ(words({.status = queued, .method = "Orders.Work()"}),
            "waits for Orders.Client.FetchAsync(), which waits for Orders.Work(), which is queued and waits for the "
            "thread pool");
  EXPECT_EQ(words({.kind = when_all, .awaits = {}, .awaits_left_out = 1000}),
            "waits for Orders.Client.FetchAsync(), which waits for all of 1000 tasks (Task.WhenAll)");
}

TEST(TaskFindingsTest, OfALongChainTheFirstAndTheLastTaskAreNamed) {
  const Findings found = find(1, [](HangBuilder& builder, std::size_t) {
    builder.thread(1, managed_thread(task_wait())).waits_for(0);
    for (std::uint32_t i = 0; i < 20; ++i) {
      builder.task(async_task("Orders.Step" + std::to_string(i) + "()", {i + 1}));
    }
    builder.task({.kind = delay, .due_ms = 500});
  });
  EXPECT_EQ(found.threads[0].last().wait.words,
            "waits for Orders.Step0(), which waits through 19 more tasks for a timer that ends in 500 ms");
}

// All workers wait for methods whose continuations are in the queue of the pool. `work`: what the last worker does.
std::vector<Snapshot> pool_program(std::size_t count, std::int32_t max, std::int64_t queued,
                                   const std::vector<std::string>& last = {}) {
  constexpr std::uint32_t kWorkers = 4;
  return dumps(count, [&](HangBuilder& builder, std::size_t) {
    for (std::uint32_t i = 0; i < kWorkers; ++i) {
      if (i == kWorkers - 1 && !last.empty()) {
        builder.thread(0x10 + i, pool_thread(last));
        continue;
      }
      builder.thread(0x10 + i, pool_thread(task_wait("M Orders.Web.Handle()"))).waits_for(i * 2);
    }
    for (std::uint32_t i = 0; i < kWorkers; ++i) {
      builder.task(async_task("Orders.Client.FetchAsync()", {i * 2 + 1}));
      builder.task({.status = done, .not_resumed = true});
    }
    builder.thread(0x30, managed_thread(task_wait())).waits_for(0);
    builder.thread(0x34, managed_thread({kWait, "coreclr!", "M System.Threading.WaitHandle.WaitOne()",
                                         "M System.Threading.PortableThreadPool+GateThread.GateThreadStart()"}));
    builder.last().traits.pool = true;
    builder.snapshot().pool = {.queued = queued, .workers = kWorkers, .working = kWorkers, .max = max,
                               .items = {{"Orders.Client.FetchAsync()", 200}, {"Orders.Log()", 1}}};
  });
}

TEST(TaskFindingsTest, ATaskThatTheProgramMustEndIsANote) {
  for (const bool pool : {false, true}) {
    const Findings found = find(2, [&](HangBuilder& builder, std::size_t) {
      builder.thread(1, pool ? pool_thread(task_wait()) : managed_thread(task_wait())).waits_for(0);
      builder.task(async_task("Orders.Client.FetchAsync()", {1})).task({.kind = completion_source});
    });
    ASSERT_THAT(kinds(found), ElementsAre(FindingKind::unclear_task));
    EXPECT_EQ(found.findings[0].severity, Severity::note);
    EXPECT_EQ(found.findings[0].title, "Thread 0x1 waits for a task, and it is not known what ends it");
    EXPECT_EQ(found.threads[0].verdict, Verdict::unclear);
    EXPECT_EQ(found.findings[0].threads[0].words,
              "waits for Orders.Client.FetchAsync(), which waits for a TaskCompletionSource");
  }
}

// Real case: a thread of the pool waited for Parallel.ForEach, whose bodies ran on other threads of the pool.
TEST(TaskFindingsTest, ATaskOfAThreadOfWhichNothingIsKnownIsNoFinding) {
  auto of = dumps(2, [](HangBuilder& builder, std::size_t) {
    builder.thread(1, pool_thread(task_wait())).waits_for(0);
    builder.thread(2, pool_thread({"ntdll!NtFuture", "M Orders.Price.Sum(System.Int32)"}));
    builder.task({.kind = delegate, .status = running, .thread = 2});
  });
  for (Snapshot& dump : of) dump.threads[1].cpu.reset();
  const Findings found = find(of);
  EXPECT_THAT(kinds(found), ElementsAre());
  EXPECT_EQ(headline(found), "nothing is stuck");
}

TEST(TaskFindingsTest, ATimerWhoseEndItsCallbackWaitsForIsANoteThatSaysSo) {
  const Findings found = find(2, [](HangBuilder& builder, std::size_t) {
    std::vector<std::string> frames = task_wait("M Orders.Close(System.Object)");
    frames.emplace_back("M System.Threading.TimerQueueTimer.Fire(System.Boolean)");
    builder.thread(1, pool_thread(std::move(frames))).waits_for(0).task({.kind = completion_source});
  });
  ASSERT_THAT(kinds(found), ElementsAre(FindingKind::unclear_task));
  EXPECT_THAT(found.findings[0].details[0], HasSubstr("Timer.DisposeAsync waits for the end of that callback"));
}

TEST(TaskFindingsTest, AContinuationInNoKnownQueueIsUnclear) {
  const Findings found = find(pool_program(2, 4, 0));
  ASSERT_THAT(kinds(found), ElementsAre(FindingKind::unclear_task));
  EXPECT_EQ(severity(found), Severity::note);
}

// It is in a queue of the program, such as that of a game's loop. The pool is starved, but not
// deadlocked.
TEST(TaskFindingsTest, AContinuationInAQueueThatIsNotKnownIsUnclear) {
  std::vector<Snapshot> program = pool_program(1, 4, 213);
  for (Snapshot& dump : program) {
    dump.contexts = {{.address = 0}};
    for (AsyncTask& task : dump.tasks) {
      if (task.status == done) task.continues_on = 0;
    }
  }
  EXPECT_EQ(severity(find(program)), Severity::note);
  program[0].pool.queued = 0;
  const Findings found = find(program);
  ASSERT_THAT(kinds(found), ElementsAre(FindingKind::unclear_task));
  EXPECT_EQ(found.findings[0].details[0],
            "The last task has ended. It is not known which queue has its continuation.");
  EXPECT_THAT(found.findings[0].threads[0].words,
              HasSubstr("its continuation waits for a queue that is not known"));
}

// The thread pool runs what timers do.
TEST(TaskFindingsTest, TimersThatAreDueNeedThePool) {
  const auto of = [](std::int64_t due, std::int64_t queued) {
    std::vector<Snapshot> program = pool_program(1, 4, queued);
    for (AsyncTask& task : program[0].tasks) {
      if (task.status == done) task = {.kind = delay, .due_ms = due};
    }
    return find(program);
  };
  const Findings found = of(0, 1);
  ASSERT_THAT(kinds(found), ElementsAre(FindingKind::starved_pool));
  EXPECT_EQ(severity(found), Severity::deadlock);
  EXPECT_EQ(found.findings[0].threads[0].words,
            "waits for Orders.Client.FetchAsync(), which waits for a timer that is due, which "
            "waits for the thread "
            "pool");
  EXPECT_EQ(severity(of(1, 1)), Severity::note);
  EXPECT_EQ(severity(of(-1, 1)), Severity::note);
  EXPECT_EQ(severity(of(0, 0)), Severity::note);
}

// Thread 1 holds a monitor for which thread 3 waits, and waits for a task. Real case: Lazy<T> whose method blocks on an
// async method that awaits Task.Delay in a loop; each dump met the task at another point of one round.
TEST(TaskFindingsTest, TheHolderOfALockWaitsForATaskThatGoesOn) {
  const std::vector<std::string> crunch = {"orders_native!crunch", "M Orders.Work()"};
  const std::vector<std::string> idle = {"ntdll!NtRemoveIoCompletion",
                                         "M System.Threading.LowLevelLifoSemaphore.WaitForSignal(System.Int32)"};
  const auto found = [](const AsyncTask& leaf, const std::vector<std::string>& worker, std::uint64_t worker_cpu) {
    return find(2, [&](HangBuilder& builder, std::size_t i) {
      builder.thread(1, managed_thread(task_wait())).waits_for(0).thread(3, managed_thread(kEnter));
      builder.thread(2, pool_thread(worker)).cpu(i * worker_cpu);
      builder.monitor(0x1f40, 1, {3}).task(async_task("Orders.Client.LoadAsync()", {1})).task(leaf);
      builder.snapshot().pool = {.queued = 1, .workers = 1, .max = 4};
    });
  };
  const AsyncTask timer{.kind = delay, .due_ms = 0}, body{.kind = delegate, .status = running, .thread = 2};
  EXPECT_EQ(severity(found({.kind = delegate, .status = running}, idle, 0)), Severity::note);
  EXPECT_EQ(severity(found({.kind = delegate, .status = done}, idle, 0)), Severity::note);
  EXPECT_EQ(severity(found(timer, idle, 0)), Severity::note);
  EXPECT_EQ(severity(found(timer, crunch, 2'000)), Severity::note);
  EXPECT_EQ(severity(found(body, crunch, 2'000)), Severity::note);
  EXPECT_EQ(severity(found(body, {"ntdll!NtDelayExecution", "M System.Threading.Thread.Sleep(System.Int32)",
                                  "M Orders.Work()"}, 0)),
            Severity::note);
  // These do not go on, or not without somebody else.
  EXPECT_EQ(severity(found(body, kReceive, 0)), Severity::stuck);
  EXPECT_EQ(severity(found(body, kNativeReply, 0)), Severity::stuck);
  EXPECT_EQ(severity(found({.kind = io}, idle, 0)), Severity::stuck);
  EXPECT_EQ(severity(found({.kind = completion_source}, idle, 0)), Severity::stuck);
}

// Thread 1 holds a monitor for which thread 3 waits, and waits for a timer that is due. One worker with a low id waits
// for data; any other one may run the timer.
TEST(TaskFindingsTest, TheHolderOfALockWaitsForAnyWorkerOfThePool) {
  const std::vector<std::string> idle = {"ntdll!NtRemoveIoCompletion",
                                         "M System.Threading.LowLevelLifoSemaphore.WaitForSignal(System.Int32)"};
  const std::vector<std::string> crunch = {"orders_native!crunch", "M Orders.Work()"};
  struct Worker {
    std::vector<std::string> frames;
    std::uint64_t cpu = 0;
    std::uint32_t waits_for = AsyncTask::kNone;
  };
  const auto found = [](const std::vector<Worker>& workers, std::int32_t max) {
    // A worker may be stuck itself.
    return thread_of(find(2, [&](HangBuilder& builder, std::size_t i) {
      builder.thread(1, managed_thread(task_wait())).waits_for(0).thread(3, managed_thread(kEnter));
      for (std::uint32_t at = 0; at < workers.size(); ++at) {
        builder.thread(10 + at, pool_thread(workers[at].frames)).cpu(i * workers[at].cpu);
        builder.last().waits_for_task = workers[at].waits_for;
      }
      builder.monitor(0x1f40, 1, {3}).task(async_task("Orders.Client.LoadAsync()", {1}));
      builder.task({.kind = delay, .due_ms = 0}).task({.kind = delay, .due_ms = 500}).task({.kind = io});
      builder.snapshot().pool = {
          .queued = 1, .workers = static_cast<std::int32_t>(workers.size()), .max = max};
    }), 3).verdict;
  };
  const Worker receives{kReceive}, is_idle{idle}, runs{crunch, 2'000}, spins{crunch, 9'900};
  EXPECT_EQ(found({receives}, 4), Verdict::unclear);
  EXPECT_EQ(found({spins}, 4), Verdict::unclear);
  EXPECT_EQ(found({{kNativeReply}}, 4), Verdict::unclear);
  for (const Worker& free : {is_idle, runs, Worker{task_wait(), 0, 2}}) {
    EXPECT_EQ(found({receives, free}, 2), Verdict::waiting);
    EXPECT_EQ(found({spins, free}, 2), Verdict::waiting);
  }
  // No worker is left, nor does the pool get another one.
  EXPECT_EQ(found({receives, spins, {task_wait(), 0, 3}, {task_wait(), 0, 0}}, 4), Verdict::stuck);
}

TEST(TaskFindingsTest, AWaitThatMayBeCancelledIsNoDeadlock) {
  EXPECT_EQ(severity(find(1, [&](HangBuilder& builder, std::size_t) {
              builder.thread(1, managed_thread(task_wait())).waits_for(0).thread(2, pool_thread(kEnter));
              builder.monitor(0x1f40, 1, {2});
              builder.task({.kind = when_any, .type = "System.Threading.Tasks.Task+CancellationPromise<T>",
                            .awaits = {1}});
              builder.task({.kind = delegate, .status = running, .thread = 2});
            })),
            Severity::note);
}

// Any code may cancel it, so nothing is proven on a thread of the pool either.
TEST(TaskFindingsTest, AWaitOfAThreadOfThePoolThatMayBeCancelledIsNotStuck) {
  const Findings found = find(2, [](HangBuilder& builder, std::size_t) {
    builder.thread(1, pool_thread(task_wait())).waits_for(0);
    builder.task({.kind = when_any, .type = "System.Threading.Tasks.Task+CancellationPromise<T>", .awaits = {1}});
    builder.task({.kind = completion_source});
  });
  EXPECT_THAT(kinds(found), ElementsAre());
  EXPECT_EQ(found.threads[0].last().wait.words, "waits for a task or its cancellation (Task.WaitAsync)");
  EXPECT_EQ(found.threads[0].verdict, Verdict::waiting);
}

// Real case: an async method that awaits the task that it has returned.
TEST(TaskFindingsTest, ATaskThatWaitsForItself) {
  const Findings found = find(1, [](HangBuilder& builder, std::size_t) {
    builder.thread(1, managed_thread(task_wait())).waits_for(0).task(async_task("Orders.Client.LoadAsync()", {0}));
  });
  ASSERT_THAT(kinds(found), ElementsAre(FindingKind::async_cycle));
  EXPECT_EQ(found.findings[0].title, "Deadlock of a task that waits for itself");
}

TEST(TaskFindingsTest, MainThatWaitsForTheEndOfItsProgramIsNoFinding) {
  const Findings found = find(2, [](HangBuilder& builder, std::size_t) {
    std::vector<std::string> frames = task_wait();
    frames.pop_back();
    builder.thread(1, main_thread(std::move(frames))).waits_for(0).task({.kind = completion_source});
  });
  EXPECT_THAT(kinds(found), ElementsAre());
  EXPECT_EQ(found.threads[0].last().wait.words,
            "the main thread waits for the program to end (waits for a TaskCompletionSource)");
}

TEST(TaskFindingsTest, OneTaskOfWhenAllThatNeverEndsIsEnough) {
  const auto found = [](TaskKind kind) {
    return severity(find(1, [&](HangBuilder& builder, std::size_t) {
      builder.thread(1, managed_thread(task_wait())).waits_for(0).thread(2, pool_thread(kEnter));
      builder.monitor(0x1f40, 1, {2}).task({.kind = kind, .awaits = {1, 2}}).task({.kind = delay, .due_ms = 10});
      builder.task({.kind = delegate, .status = running, .thread = 2});
    }));
  };
  EXPECT_EQ(found(when_all), Severity::deadlock);
  EXPECT_EQ(found(when_any), Severity::note);
}

TEST(TaskFindingsTest, APoolThatCannotGrowAndWhoseWorkersAllWaitForItIsADeadlock) {
  const Findings found = find(pool_program(1, 4, 213));
  ASSERT_THAT(kinds(found), ElementsAre(FindingKind::starved_pool));
  const Finding& finding = found.findings[0];
  EXPECT_EQ(finding.severity, Severity::deadlock);
  EXPECT_EQ(finding.title,
            "The thread pool is deadlocked: all of its 4 workers wait for work that only the pool can do");
  EXPECT_EQ(finding.details[0], "213 work items are queued. 4 of 4 workers wait for work that is in that queue.");
  EXPECT_EQ(finding.details[1], "The first items: 200 × Orders.Client.FetchAsync(), Orders.Log().");
  EXPECT_EQ(finding.threads.size(), 4u);
  EXPECT_EQ(finding.behind.size(), 1u);
  EXPECT_EQ(finding.threads[0].words,
            "waits for Orders.Client.FetchAsync(), which waits for a task, which is done; its continuation waits for "
            "the thread pool");
}

TEST(TaskFindingsTest, APoolThatMayGrowIsStarvedOnlyOverTwoDumps) {
  const Findings one = find(pool_program(1, 32'767, 213));
  ASSERT_THAT(kinds(one), ElementsAre(FindingKind::starved_pool));
  EXPECT_EQ(severity(one), Severity::note);
  const Findings two = find(pool_program(2, 32'767, 213));
  ASSERT_THAT(kinds(two), ElementsAre(FindingKind::starved_pool));
  EXPECT_EQ(two.findings[0].severity, Severity::stuck);
  EXPECT_EQ(two.findings[0].title, "The thread pool is starved: all of its 4 workers are blocked");
  EXPECT_EQ(two.findings[0].details[0],
            "213 work items are queued. 4 of 4 workers wait for work that is in that queue.");
}

TEST(TaskFindingsTest, APoolWithAWorkerAtWorkIsNotStarved) {
  const std::vector<std::string> work = {"orders_native!crunch", "M Orders.Web.Handle()"};
  for (const std::size_t count : {1, 2}) {
    EXPECT_EQ(severity(find(pool_program(count, 4, 213, work))), Severity::note);
  }
}

TEST(TaskFindingsTest, AThreadThatWaitsForAnotherTaskInTheSecondDumpHasGoneOn) {
  const auto verdict = [](std::int32_t second, std::uint64_t address) {
    return find(2, [&](HangBuilder& builder, std::size_t i) {
             builder.thread(1, managed_thread(task_wait())).waits_for(0).thread(2, pool_thread(kNativeReply));
             AsyncTask task = async_task("Orders.Client.FetchAsync()", {1});
             task.await_number = i == 0 ? 1 : second;
             task.address = i == 0 ? 0x1000 : address;
             builder.task(std::move(task)).task({.kind = io});
           })
        .threads[0]
        .verdict;
  };
  EXPECT_EQ(verdict(1, 0x1000), Verdict::waiting);
  EXPECT_EQ(verdict(1, 0x7000), Verdict::waiting);  // a garbage collection has moved the task
  EXPECT_EQ(verdict(2, 0x1000), Verdict::returned);
}

TEST(TaskFindingsTest, TheOutputOfAProcessThatHasEnded) {
  const std::vector<std::string> frames = {
      kWait, "coreclr!", "M System.Threading.Monitor.Wait(System.Object, System.Int32)",
      "M System.Threading.ManualResetEventSlim.Wait(System.Int32)",
      "M System.Threading.Tasks.Task.InternalWait(System.Int32)",
      "M System.Runtime.CompilerServices.TaskAwaiter.GetResult()",
      "M System.Diagnostics.Process.WaitForExitCore(System.Int32)", "M System.Diagnostics.Process.WaitForExit()",
      "M Orders.Tool.Run()"};
  const auto waiting = [&](bool has_tasks) {
    return find(2, [&](HangBuilder& builder, std::size_t) {
      builder.thread(1, pool_thread(frames), "build");
      if (has_tasks) builder.waits_for(0).task({.kind = io});
    });
  };
  const Findings found = waiting(true);
  ASSERT_THAT(kinds(found), ElementsAre(FindingKind::process_output));
  EXPECT_EQ(found.findings[0].severity, Severity::stuck);
  // Without the tasks, a thread may be at work on the output.
  EXPECT_EQ(severity(waiting(false)), Severity::note);
  EXPECT_EQ(found.findings[0].title, "Thread 0x1 \"build\" waits for the output of a process that has ended");
  // A thread that reads the output is at work on it.
  const Findings read = find(2, [&](HangBuilder& builder, std::size_t i) {
    builder.thread(1, managed_thread(frames)).waits_for(0);
    builder.thread(2, pool_thread({"orders_native!parse", "M Orders.Read()"})).cpu(i * 900);
    builder.task({.kind = async_method, .status = running, .thread = 2});
  });
  EXPECT_THAT(kinds(read), ElementsAre());
}

// The worker of the pool that reads the pipe waits for the other process as well.
TEST(TaskFindingsTest, TheOutputOfAProcessThatHasEndedIsReadByAWorker) {
  const auto read_in = [](const std::vector<std::string>& callers) {
    return find(2, [&](HangBuilder& builder, std::size_t) {
      builder
          .thread(1,
                  managed_thread({kWait, "coreclr!", "M System.Threading.Monitor.Wait(System.Object, System.Int32)",
                                  "M System.Threading.ManualResetEventSlim.Wait(System.Int32)",
                                  "M System.Threading.Tasks.Task.InternalWait(System.Int32)",
                                  "M System.Diagnostics.Process.WaitForExit()", "M Orders.Tool.Run()"}),
                  "build")
          .waits_for(0);
      std::vector<std::string> reads = {"ntdll!NtReadFile", "kernelbase!ReadFile",
                                        "M System.IO.RandomAccess.ReadAtOffset(System.IntPtr)"};
      reads.insert(reads.end(), callers.begin(), callers.end());
      builder.thread(2, pool_thread(reads));
      builder.task({.kind = async_method, .awaits = {1}}).task({.kind = async_method, .status = running, .thread = 2});
    });
  };
  EXPECT_THAT(kinds(read_in({})), ElementsAre(FindingKind::process_output));
  // It has the output, and reads another file.
  EXPECT_THAT(kinds(read_in({"M Orders.Tool.Handle()"})), ElementsAre());
}

TEST(TaskFindingsTest, IndicesThatNameNothingAreLeftOut) {
  const Findings found = find(2, [](HangBuilder& builder, std::size_t) {
    builder.thread(1, managed_thread(task_wait())).waits_for(77).thread(2, managed_thread(task_wait())).waits_for(0);
    builder.thread(3, managed_thread(task_wait())).waits_for(2).thread(4, managed_thread(task_wait())).waits_for(3);
    builder.task(async_task("A()", {99, 1})).task({.status = done, .continues_on = 55});
    builder.task({.kind = when_any, .awaits = {2, 99}}).task({.status = running, .thread = 0x999});
    builder.lock({.kind = LockKind::semaphore, .address = 0xA0, .held = true, .recursion = 1, .task_holders = {44}});
    builder.task({.kind = TaskKind::semaphore, .object = 0xA0});
    builder.snapshot().contexts = {{0x9000, "Context", 0x999}};
  });
  EXPECT_EQ(severity(found), Severity::note);
}

TEST(TaskFindingsTest, ADumpThatLacksTheTaskOfAThreadSaysWhy) {
  const auto gaps = [](bool known) {
    return find(1, [&](HangBuilder& builder, std::size_t) {
             builder.thread(1, managed_thread(task_wait())).task({.kind = io});
             if (known) builder.waits_for(0);
             builder.snapshot().tasks_missing = "the runtime is not known";
           }).gaps;
  };
  EXPECT_THAT(gaps(false), ElementsAre("It is not known for which task 1 thread waits: the runtime is not known"));
  EXPECT_THAT(gaps(true), ElementsAre());
}

TEST(TaskFindingsTest, ALoopOfTasksEnds) {
  const Findings found = find(1, [](HangBuilder& builder, std::size_t) {
    builder.thread(1, managed_thread(task_wait())).waits_for(0).thread(2, managed_thread(task_wait())).waits_for(2);
    builder.task(async_task("A()", {1})).task(async_task("B()", {0})).task(async_task("C()", {2}));
  });
  ASSERT_THAT(kinds(found), ElementsAre(FindingKind::async_cycle, FindingKind::async_cycle));
  EXPECT_THAT((std::set<std::string>{found.findings[0].title, found.findings[1].title}),
              ElementsAre("Deadlock of 2 tasks that wait for each other", "Deadlock of a task that waits for itself"));
}

TEST(TaskFindingsTest, ALongChainOfTasksThatManyThreadsShare) {
  const Findings found = find(1, [](HangBuilder& builder, std::size_t) {
    constexpr std::uint32_t kTasks = 200'000, kThreads = 2'000;
    for (std::uint32_t i = 0; i < kThreads; ++i) {
      Thread& thread = builder.snapshot().threads.emplace_back();
      thread.os_id = i + 1;
      thread.waits_for_task = i;
    }
    for (std::uint32_t i = 0; i < kTasks; ++i) builder.task(async_task("A()", {i + 1}));
    builder.task({.kind = delegate, .status = running, .thread = 1});
  });
  ASSERT_THAT(kinds(found), ElementsAre(FindingKind::async_cycle));
}

TEST(TaskFindingsTest, ALongChainOfTasksBehindAThreadThatWaitsForNothing) {
  const Findings found = find(1, [](HangBuilder& builder, std::size_t) {
    constexpr std::uint32_t kTasks = 100'000, kThreads = 10'000;
    for (std::uint32_t i = 0; i < kThreads; ++i) {
      Thread& thread = builder.snapshot().threads.emplace_back();
      thread.os_id = i + 1;
      thread.waits_for_task = i;
    }
    for (std::uint32_t i = 0; i < kTasks; ++i) builder.task(async_task("A()", {i + 1}));
    builder.task({.kind = delegate, .status = running, .thread = kThreads + 1});
    builder.thread(kThreads + 1, pool_thread({"orders_native!crunch", "M Orders.Work()"}));
  });
  EXPECT_EQ(severity(found), Severity::note);
}

// A judge of its own: what goes on, found by asking everything again and again until nothing new goes on.
class Judge {
 public:
  explicit Judge(const Snapshot& snapshot) : s_(snapshot) {
    thread.resize(s_.threads.size());
    lock.resize(s_.locks.size());
    task.resize(s_.tasks.size());
    context.resize(s_.contexts.size());
    for (bool more = true; more;) {
      more = false;
      const auto set = [&](std::vector<bool>& of, std::size_t i, bool goes_on) {
        if (goes_on && !of[i]) of[i] = more = true;
      };
      for (std::size_t i = 0; i < thread.size(); ++i) set(thread, i, thread_goes_on(s_.threads[i]));
      for (std::size_t i = 0; i < lock.size(); ++i) set(lock, i, lock_goes_on(s_.locks[i]));
      for (std::size_t i = 0; i < task.size(); ++i) set(task, i, task_goes_on(s_.tasks[i]));
      for (std::size_t i = 0; i < context.size(); ++i) set(context, i, os_thread(s_.contexts[i].thread));
      const bool grows = s_.pool.workers < s_.pool.max;
      const auto works = [&](const Thread& of) { return of.traits.pool && os_thread(of.os_id); };
      if (!pool && (grows || std::ranges::any_of(s_.threads, works))) pool = more = true;
    }
  }

  std::vector<bool> thread, lock, task, context;
  bool pool = false;

 private:
  bool os_thread(std::uint32_t id) const {
    for (std::size_t i = 0; i < thread.size(); ++i) {
      if (s_.threads[i].os_id == id) return thread[i];
    }
    return true;  // whatever it is, it may go on
  }
  bool thread_goes_on(const Thread& of) const {
    if (of.waits_for_task != AsyncTask::kNone && !has_ended(s_.tasks[of.waits_for_task].status) &&
        !task[of.waits_for_task]) {
      return false;
    }
    for (std::size_t i = 0; i < lock.size(); ++i) {
      const auto waits = [&](const LockWaiter& waiter) { return waiter.os_id == of.os_id; };
      if (std::ranges::any_of(s_.locks[i].waiters, waits)) return lock[i];
    }
    return true;
  }
  bool lock_goes_on(const Lock& of) const {
    if (of.is_free()) return true;
    std::vector<bool> holders;
    if (of.owner != 0) holders.push_back(os_thread(of.owner));
    const auto upgrades = [&](std::uint32_t id) {
      const auto is = [&](const LockWaiter& waiter) { return waiter.os_id == id; };
      return of.kind == LockKind::threading_lock && std::ranges::any_of(of.waiters, is);
    };
    const bool one = std::ranges::count_if(of.sharers, upgrades) == 1;
    for (const std::uint32_t id : of.sharers) holders.push_back((one && upgrades(id)) || os_thread(id));
    for (const std::uint32_t i : of.task_holders) holders.push_back(task[i]);
    const auto goes_on = [](bool holder) { return holder; };
    if (of.kind != LockKind::semaphore) return std::ranges::all_of(holders, goes_on);
    return of.recursion != holders.size() || std::ranges::any_of(holders, goes_on);
  }
  bool task_goes_on(const AsyncTask& of) const {
    switch (of.status) {
      case running: return os_thread(of.thread);
      case queued: return pool;
      case waiting: break;
      default: return of.continues_on != AsyncTask::kNone ? bool{context[of.continues_on]} : !of.not_resumed || pool;
    }
    if (of.kind == TaskKind::semaphore) {
      for (std::size_t i = 0; i < lock.size(); ++i) {
        if (s_.locks[i].kind == LockKind::semaphore && s_.locks[i].address == of.object) return lock[i];
      }
      return true;
    }
    if (of.kind == delay || of.awaits.empty()) return true;
    std::vector<bool> awaited;
    for (const std::uint32_t i : of.awaits) {
      const AsyncTask& other = s_.tasks[i];
      const bool combines = of.kind == when_all || of.kind == when_any;
      const bool in_context = combines || other.continues_on == AsyncTask::kNone || context[other.continues_on];
      awaited.push_back((combines && has_ended(other.status)) || (task[i] && in_context));
    }
    const auto goes_on = [](bool end) { return end; };
    return of.kind == when_any ? std::ranges::any_of(awaited, goes_on) : std::ranges::all_of(awaited, goes_on);
  }

  const Snapshot& s_;
};

Snapshot random_program(std::mt19937& random) {
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  HangBuilder builder;
  const std::uint32_t threads = 1 + below(5), locks = below(5), tasks = below(8), contexts = below(3);
  for (std::uint32_t i = 0; i < threads; ++i) {
    builder.thread(i + 1, {kWait, "M Orders.Run()"});
    builder.last().traits.pool = below(3) == 0;
  }
  for (std::uint32_t i = 0; i < tasks; ++i) {
    constexpr TaskKind kKinds[] = {async_method, async_method, async_method, when_all,
                                   when_any,     delay,        TaskKind::semaphore};
    constexpr TaskStatus kStatuses[] = {waiting, waiting, waiting, running, queued, done};
    AsyncTask task{.address = 0x1000 + i, .kind = kKinds[below(7)], .status = kStatuses[below(6)]};
    if (task.kind == TaskKind::semaphore) {
      if (task.status == waiting) task.object = 0x100 + below(locks + 1);
    } else {
      for (std::uint32_t n = below(3); n != 0; --n) task.awaits.push_back(below(tasks));
    }
    if (task.kind == delay) task.due_ms = 5;
    if (task.status == running) task.thread = 1 + below(threads);
    if (contexts != 0 && below(3) == 0) task.continues_on = below(contexts);
    task.not_resumed = task.status == done && below(2) == 0;
    builder.task(std::move(task));
  }
  for (std::uint32_t i = 0; i < locks; ++i) {
    constexpr LockKind kKinds[] = {LockKind::srw_lock,  LockKind::com_call,       LockKind::mutex,
                                   LockKind::thread_end, LockKind::threading_lock, LockKind::semaphore,
                                   LockKind::threading_lock, LockKind::semaphore};
    Lock lock{.kind = kKinds[below(8)], .address = 0x100 + i, .held = true};
    std::set<std::uint32_t> holders;
    if (lock.kind != LockKind::threading_lock && lock.kind != LockKind::semaphore) {
      lock.owner = 1 + below(threads);
    } else {
      for (std::uint32_t n = 1 + below(2); n != 0; --n) holders.insert(1 + below(threads));
      lock.sharers.assign(holders.begin(), holders.end());
    }
    if (lock.kind == LockKind::semaphore && tasks != 0 && below(2) == 0) lock.task_holders = {below(tasks)};
    if (lock.kind == LockKind::semaphore) {
      lock.recursion = static_cast<std::uint32_t>(lock.sharers.size() + lock.task_holders.size()) + below(2);
    }
    builder.lock(std::move(lock));
  }
  std::int32_t workers = 0;
  for (Thread& thread : builder.snapshot().threads) {
    workers += thread.traits.pool;
    if (tasks != 0 && below(2) == 0) {
      thread.waits_for_task = below(tasks);
    } else if (locks != 0 && below(2) == 0) {
      Lock& lock = builder.snapshot().locks[below(locks)];
      if (lock.owner != thread.os_id || !can_enter_again(lock.kind)) lock.waiters.push_back({thread.os_id});
    }
  }
  for (std::uint32_t i = 0; i < contexts; ++i) {
    builder.snapshot().contexts.push_back({0x9000 + i, "Orders.Context", below(threads + 1)});
  }
  const auto more = static_cast<std::int32_t>(workers == 0 ? 1 : below(2));
  builder.snapshot().pool = {.queued = 1, .workers = workers, .max = workers + more};
  return builder.snapshot();
}

TEST(TaskFindingsTest, ADeadlockIsSaidExactlyIfThereIsNoWayOut) {
  std::size_t locked_programs = 0;
  for (std::uint32_t seed = 0; seed < 4'000; ++seed) {
    std::mt19937 random(seed);
    const Snapshot program = random_program(random);
    const Judge judge(program);
    std::set<std::uint32_t> expected, said;
    for (std::size_t i = 0; i < judge.thread.size(); ++i) {
      if (!judge.thread[i]) expected.insert(program.threads[i].os_id);
    }
    const bool locked = !expected.empty() || std::ranges::find(judge.task, false) != judge.task.end();
    const Findings found = find({program});
    for (const Finding& finding : found.findings) {
      if (finding.severity != Severity::deadlock) continue;
      for (const FindingThread& part : finding.threads) said.insert(found.threads[part.thread].os_id);
      for (const std::uint32_t thread : finding.behind) said.insert(found.threads[thread].os_id);
    }
    ASSERT_EQ(severity(found) == Severity::deadlock, locked) << "seed " << seed;
    ASSERT_EQ(said, expected) << "seed " << seed;
    locked_programs += locked;
  }
  EXPECT_GT(locked_programs, 400u);
  EXPECT_LT(locked_programs, 3'600u);
}

}  // namespace
}  // namespace mixwalk
