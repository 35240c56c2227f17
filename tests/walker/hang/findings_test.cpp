#include "walker/hang/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/builders/hang_builder.h"
#include "tests/builders/hang_samples.h"

namespace mixwalk {
namespace {

using test::HangBuilder;
using test::managed_thread;
using test::pool_thread;

constexpr std::uint64_t kFirst = 1'795'412'335'000;
const std::string kWait = "ntdll!NtWaitForMultipleObjects";
const std::vector<std::string> kEnter = {kWait, "coreclr!", "M System.Threading.Monitor.Enter(System.Object)",
                                         "M Orders.Get()"};
const std::vector<std::string> kNativeReply = {kWait, "orders_native!wait_for_reply", "P orders_native!wait_for_reply",
                                               "M Orders.Run()"};

// Returns two dumps, ten seconds apart, that `fill` makes alike.
template <class Fill>
std::vector<Snapshot> two_dumps(Fill fill) {
  std::vector<Snapshot> dumps;
  for (std::uint64_t i = 0; i < 2; ++i) {
    HangBuilder builder(kFirst + i * 10'000);
    fill(builder, i);
    dumps.push_back(builder.snapshot());
  }
  return dumps;
}

Findings find(const std::vector<Snapshot>& dumps) {
  return find_hangs(dumps, std::vector<std::string>(dumps.size(), "a.mixwalk"));
}

std::vector<FindingKind> kinds(const Findings& findings) {
  std::vector<FindingKind> kinds;
  for (const Finding& finding : findings.findings) kinds.push_back(finding.kind);
  return kinds;
}

std::vector<std::uint32_t> ids(const Findings& findings, const Finding& finding) {
  std::vector<std::uint32_t> ids;
  for (const FindingThread& part : finding.threads) ids.push_back(findings.threads[part.thread].os_id);
  return ids;
}

TEST(FindingsTest, ADeadlockComesFirstAndNamesThreadsAndLocks) {
  const Findings findings = find(test::deadlocked_program());
  EXPECT_EQ(headline(findings), "2 threads are deadlocked, and 3 more are stuck");
  EXPECT_EQ(severity(findings), Severity::deadlock);
  ASSERT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::deadlock});
  const Finding& deadlock = findings.findings[0];
  EXPECT_EQ(deadlock.title, "Deadlock of 2 threads");
  EXPECT_EQ(ids(findings, deadlock), (std::vector<std::uint32_t>{0x200, 0x204}));
  EXPECT_EQ(deadlock.threads[0].words,
            "waits for the monitor 0x1f80 (System.Object), held by thread 0x204 \"billing\"");
  EXPECT_EQ(deadlock.threads[0].waits_for, 1u);
  EXPECT_EQ(deadlock.threads[0].holds, std::vector<std::uint32_t>{0});
  EXPECT_EQ(deadlock.behind.size(), 3u);
  EXPECT_EQ(deadlock.since, 0u);
}

// A thread of the circle that ran (a lock that spins before it waits) is deadlocked, and must not hide a stuck thread.
TEST(FindingsTest, TheHeadlineCountsWhoIsStuckBesideADeadlock) {
  const auto dumps = two_dumps([](HangBuilder& builder, std::uint64_t i) {
    builder.thread(1, managed_thread(kEnter)).cpu(9'900 * i);
    for (const std::uint32_t id : {2, 3}) builder.thread(id, managed_thread(kEnter)).cpu(5);
    builder.monitor(0x1f40, 1, {2, 3}).monitor(0x2f40, 2, {1});
  });
  const Findings findings = find(dumps);
  EXPECT_EQ(findings.threads[0].verdict, Verdict::spinning);
  EXPECT_EQ(headline(findings), "2 threads are deadlocked, and 1 more is stuck");
}

TEST(FindingsTest, AStuckThreadInAHandlerOfAnExceptionSaysSo) {
  const HandledException failed{{{.type = "Orders.Failed", .message = "no stock", .trace = {}}}};
  const auto dumps = two_dumps([&](HangBuilder& builder, std::uint64_t) {
    for (const std::uint32_t id : {1, 2, 3}) builder.thread(id, managed_thread(kEnter)).cpu(5);
    builder.last().handles = {failed};
    builder.snapshot().threads[0].handles.resize(1);
    builder.snapshot().threads[1].handles = {failed, failed};
    builder.monitor(0x1f40, 1, {2, 3}).monitor(0x2f40, 2, {1});
  });
  const Findings findings = find(dumps);
  ASSERT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::deadlock});
  const std::vector<std::string>& details = findings.findings[0].details;
  EXPECT_EQ(std::ranges::count(details, std::string("Thread 0x2 handles Orders.Failed: \"no stock\"")), 1);
  EXPECT_TRUE(std::ranges::none_of(details, [](const std::string& text) { return text.starts_with("Thread 0x3"); }));
}

TEST(FindingsTest, DumpsOfDifferentThreadsProveNothing) {
  std::vector<Snapshot> dumps;
  for (const std::uint32_t id : {1, 2}) {
    HangBuilder builder(kFirst + id * 10'000);
    builder.thread(id, managed_thread(kEnter)).cpu(5);
    builder.snapshot().omissions.threads = true;
    dumps.push_back(builder.snapshot());
  }
  EXPECT_EQ(headline(find(dumps)), "no deadlock is seen; only two or more dumps of a thread show whether it is stuck");
}

TEST(FindingsTest, OneDumpShowsADeadlock) {
  const std::vector<Snapshot> dumps = {test::deadlocked_program().front()};
  const Findings findings = find(dumps);
  EXPECT_EQ(severity(findings), Severity::deadlock);
}

TEST(FindingsTest, EachTroubleHasItsFindingInTheOrderOfNeed) {
  const Findings findings = find(test::troubled_program());
  EXPECT_EQ(kinds(findings),
            (std::vector<FindingKind>{FindingKind::chain, FindingKind::starved_pool, FindingKind::common_call,
                                      FindingKind::stuck, FindingKind::spinning}));
  EXPECT_EQ(severity(findings), Severity::stuck);
}

TEST(FindingsTest, AChainNamesTheHolderFirst) {
  const Findings findings = find(test::troubled_program());
  const Finding& chain = findings.findings[0];
  EXPECT_EQ(chain.title, "2 threads wait for what thread 0x200 \"client\" holds");
  EXPECT_EQ(ids(findings, chain).front(), 0x200u);
  EXPECT_EQ(chain.threads[0].words.find("holds the monitor 0x1f40 (System.Object) and waits in native code"), 0u);
}

// Real case: "2 threads wait" and "1 more thread waits behind them", where two threads waited.
TEST(FindingsTest, AThreadThatTheTitleCountsIsNotOneMore) {
  const Finding chain = find(test::troubled_program()).findings[0];
  EXPECT_EQ(chain.title, "2 threads wait for what thread 0x200 \"client\" holds");
  EXPECT_EQ(chain.details[0], "1 of these 2 threads is not listed below.");
  const Finding deadlock = find(test::deadlocked_program()).findings[0];
  EXPECT_EQ(deadlock.title, "Deadlock of 2 threads");
  EXPECT_EQ(deadlock.details[0], "3 more threads wait behind them.");
  EXPECT_EQ(deadlock.threads.size(), 2u);
}

TEST(FindingsTest, TheStarvedPoolCountsItsWorkers) {
  const Findings findings = find(test::troubled_program());
  EXPECT_EQ(findings.findings[1].title, "The thread pool is starved: all of its 4 workers are blocked");
}

TEST(FindingsTest, OneIdleWorkerIsNoStarvedPool) {
  std::vector<Snapshot> dumps = test::troubled_program();
  for (Snapshot& dump : dumps) {
    HangBuilder builder;
    builder.thread(0x700, managed_thread({"ntdll!NtRemoveIoCompletion",
                                          "M System.Threading.LowLevelLifoSemaphore.WaitForSignal(System.Int32)",
                                          "M System.Threading.PortableThreadPool+WorkerThread.WorkerThreadStart()"}));
    dump.threads.push_back(builder.last());
  }
  for (const FindingKind kind : kinds(find(dumps))) EXPECT_NE(kind, FindingKind::starved_pool);
}

// A starved pool gets further workers, and these are blocked at once.
TEST(FindingsTest, ANewWorkerOfAStarvedPoolIsBlockedToo) {
  const auto with_new_worker = [](std::vector<std::string> frames) {
    std::vector<Snapshot> dumps = test::troubled_program();
    HangBuilder builder;
    builder.thread(0x310, std::move(frames), ".NET TP Worker");
    dumps.back().threads.push_back(builder.last());
    return find(dumps);
  };
  const auto is_starved = [](const Findings& findings) {
    const auto found = kinds(findings);
    return std::ranges::find(found, FindingKind::starved_pool) != found.end();
  };
  const Findings blocked = with_new_worker(
      pool_thread({kWait, "coreclr!", "M System.Threading.Monitor.Wait(System.Object, System.Int32)",
                   "M System.Threading.ManualResetEventSlim.Wait(System.Int32)",
                   "M System.Threading.Tasks.Task.InternalWait(System.Int32)", "M Orders.Web.Handle(Orders.Request)"}));
  ASSERT_TRUE(is_starved(blocked));
  EXPECT_EQ(blocked.findings[1].title, "The thread pool is starved: all of its 5 workers are blocked");
  EXPECT_FALSE(is_starved(with_new_worker(pool_thread({"orders_native!crunch", "M Orders.Web.Handle()"}))));
}

TEST(FindingsTest, TheCommonCallIsNamed) {
  const Findings findings = find(test::troubled_program());
  EXPECT_EQ(findings.findings[2].title,
            "8 threads have not come back from the P/Invoke orders_native!print");
}

TEST(FindingsTest, AHealthyProgramIsNotStuck) {
  const Findings findings = find(test::healthy_program());
  EXPECT_EQ(headline(findings), "nothing is stuck");
  EXPECT_EQ(severity(findings), Severity::note);
  // The holder of this lock continues.
  EXPECT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::contended});
  for (const ThreadHistory& thread : findings.threads) EXPECT_NE(thread.verdict, Verdict::stuck) << thread.name;
}

TEST(FindingsTest, OneDumpClaimsNothing) {
  const std::vector<Snapshot> dumps = {test::troubled_program().front()};
  EXPECT_EQ(headline(find(dumps)), "no deadlock is seen; only two or more dumps of a thread show whether it is stuck");
  EXPECT_EQ(severity(find(dumps)), Severity::note);
}

TEST(FindingsTest, AHolderThatSpinsHoldsUpItsWaiters) {
  const Findings findings = find(two_dumps([](HangBuilder& builder, std::uint64_t i) {
    builder.thread(1, managed_thread({"orders_native!crunch", "M Orders.Report.Run()"}), "report").cpu(i * 9'900);
    builder.thread(2, managed_thread(kEnter)).cpu(1).monitor(0xA, 1, {2});
  }));
  EXPECT_EQ(headline(findings), "1 thread is stuck");
  ASSERT_FALSE(findings.findings.empty());
  EXPECT_EQ(findings.findings[0].kind, FindingKind::chain);
  EXPECT_NE(findings.findings[0].threads[0].words.find("ran for 9.9 s of 10 s"), std::string::npos);
}

// Thread 2 joins thread 1, which has made a COM call into the apartment of thread 2 and waits for the answer.
TEST(FindingsTest, WaitsOfTheSystemAreLinksOfADeadlock) {
  const Findings findings = find(two_dumps([](HangBuilder& builder, std::uint64_t) {
    builder.thread(1, managed_thread({kWait, "ole32!", "C Orders.IOrders.Submit()", "M Orders.Web.Post()"}), "web")
        .cpu(1);
    builder
        .thread(2, managed_thread({kWait, "coreclr!", "M System.Threading.Thread.Join()", "M Orders.Program.Main()"}))
        .cpu(1);
    builder.lock({.kind = LockKind::com_call, .owner = 2, .held = true, .waiters = {{1}}});
    builder.lock({.kind = LockKind::thread_end, .owner = 1, .held = true, .waiters = {{2}}});
  }));
  ASSERT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::deadlock});
  const Finding& deadlock = findings.findings[0];
  ASSERT_EQ(deadlock.threads.size(), 2u);
  EXPECT_EQ(deadlock.threads[0].words, "waits for the answer to a COM call, to be given by thread 0x2");
  EXPECT_EQ(deadlock.threads[1].words, "waits for the end of a thread, which is thread 0x1 \"web\"");
}

TEST(FindingsTest, WhoeverServesACallIsNamedAsItsServer) {
  const Findings findings = find(two_dumps([](HangBuilder& builder, std::uint64_t) {
    builder
        .thread(1,
                managed_thread(
                    {kWait, "orders_native!wait_for_reply", "P orders_native!submit", "M Orders.Client.Submit()"}),
                "client")
        .cpu(1);
    builder
        .thread(2, managed_thread({kWait, "combase!", "combase!", "C Orders.IOrders.Submit()", "M Orders.Web.Post()"}))
        .cpu(1);
    builder.lock({.kind = LockKind::com_call, .owner = 1, .held = true, .waiters = {{2}}});
  }));
  ASSERT_FALSE(findings.findings.empty());
  EXPECT_EQ(findings.findings[0].kind, FindingKind::chain);
  EXPECT_EQ(findings.findings[0].title, "1 thread waits for thread 0x1 \"client\"");
  EXPECT_EQ(
      findings.findings[0].threads[0].words.find("has not given the answer to a COM call and waits in native code"), 0u)
      << findings.findings[0].threads[0].words;
}

// Thread 1 is in `frames` in both dumps; threads 2 and 3 wait for its mutex.
std::vector<Snapshot> mutex_held_by(const std::vector<std::string>& frames) {
  return two_dumps([&](HangBuilder& builder, std::uint64_t) {
    builder.thread(1, managed_thread(frames), "client").cpu(1);
    for (const std::uint32_t waiter : {2u, 3u}) {
      builder.thread(waiter, managed_thread({kWait, "M System.Threading.WaitHandle.WaitOne()", "M Orders.Web.Post()"}))
          .cpu(1);
    }
    builder.lock({.kind = LockKind::mutex, .type = "orders", .owner = 1, .held = true, .waiters = {{2}, {3}}});
  });
}

TEST(FindingsTest, WhoeverWaitsForAMutexThatStaysHeldIsStuck) {
  const Findings findings =
      find(mutex_held_by({kWait, "orders_native!fetch", "P orders_native!fetch", "M Orders.Client.Get()"}));
  ASSERT_FALSE(findings.findings.empty());
  EXPECT_EQ(findings.findings[0].kind, FindingKind::chain);
  EXPECT_EQ(severity(findings), Severity::stuck);
  // The threads are the same, but no owner of the mutex is known.
  std::vector<Snapshot> dumps =
      mutex_held_by({kWait, "orders_native!fetch", "P orders_native!fetch", "M Orders.Client.Get()"});
  for (Snapshot& dump : dumps) dump.locks.clear();
  for (const ThreadHistory& history : find(dumps).threads) {
    if (history.os_id == 1) continue;
    EXPECT_EQ(history.verdict, Verdict::waiting);
  }
}

// Real case: a thread that had been pulsed waited for the monitor again, whose holder waited for something else. It
// "waits to be pulsed", and nothing was stuck.
TEST(FindingsTest, AThreadThatWasPulsedWaitsForTheMonitor) {
  const auto found = [](bool pulsed) {
    return find(two_dumps([&](HangBuilder& builder, std::uint64_t) {
      builder
          .thread(1,
                  managed_thread({kWait, "coreclr!", "M System.Threading.WaitHandle.WaitOne()", "M Orders.Web.Post()"}))
          .cpu(1);
      builder.thread(
          2, managed_thread({kWait, "coreclr!", "M System.Threading.Monitor.Wait(System.Object)", "M Orders.Take()"}));
      builder.cpu(1).lock(
          {.kind = LockKind::monitor, .address = 0xA, .owner = 1, .held = true, .waiters = {{2, !pulsed}}});
    }));
  };
  EXPECT_EQ(headline(found(false)), "nothing is stuck");
  const Findings pulsed = found(true);
  EXPECT_EQ(headline(pulsed), "2 threads are stuck");
  ASSERT_EQ(kinds(pulsed), std::vector<FindingKind>{FindingKind::chain});
  EXPECT_EQ(pulsed.threads[1].last().wait.words, "waits to enter a monitor (lock)");
}

// In .NET 8 and in composite images, the program itself calls the runtime, so there is no frame of Monitor.Enter. Real
// case: on .NET 8, threads that waited for a monitor whose holder waited for them were "unclear", and nothing was
// stuck.
TEST(FindingsTest, TheDumpsLocksSayThatAThreadInTheRuntimeWaitsForAMonitor) {
  const auto found = [](bool shown) {
    return find(two_dumps([&](HangBuilder& builder, std::uint64_t) {
      builder.thread(1, managed_thread({kWait, "coreclr!", "M System.Threading.Thread.Join()", "M Orders.Web.Stop()"}))
          .cpu(1);
      builder.thread(2, managed_thread({kWait, "coreclr!", "M Orders.Get()"})).cpu(1);
      if (shown) builder.monitor(0xA, 1, {2});
    }));
  };
  EXPECT_EQ(headline(found(false)), "nothing is stuck");
  const Findings findings = found(true);
  EXPECT_EQ(headline(findings), "2 threads are stuck");
  EXPECT_EQ(findings.threads[1].last().wait.words, "waits to enter a monitor (lock)");
}

// The holder is in no known wait, but it has used no processor time and has not moved. The program may have suspended
// it.
TEST(FindingsTest, AHolderThatHasStoodHoldsUpItsWaitersWhateverItDoes) {
  const auto dumps = [](std::uint64_t cpu) {
    return two_dumps([&](HangBuilder& builder, std::uint64_t i) {
      builder.thread(1, managed_thread({"orders_native!crunch", "M Orders.Report.Run()"}), "report").cpu(i * cpu);
      builder.thread(2, managed_thread(kEnter)).cpu(1).monitor(0xA, 1, {2});
    });
  };
  const Findings stood = find(dumps(1));
  EXPECT_EQ(severity(stood), Severity::stuck);
  EXPECT_NE(severity(find(dumps(40))), Severity::stuck);
}

TEST(FindingsTest, ThreadsThatJoinAThreadThatGoesOnAreNoFinding) {
  EXPECT_TRUE(
      find(two_dumps([](HangBuilder& builder, std::uint64_t i) {
        builder
            .thread(1, managed_thread({i == 0 ? "orders_native!read" : "orders_native!write", "M Orders.Work.Run()"}))
            .cpu(i * 900);
        for (const std::uint32_t joiner : {2u, 3u}) {
          builder
              .thread(joiner, managed_thread(
                                  {kWait, "coreclr!", "M System.Threading.Thread.Join()", "M Orders.Program.Main()"}))
              .cpu(1);
          builder.lock({.kind = LockKind::thread_end, .owner = 1, .held = true, .waiters = {{joiner}}});
        }
      })).findings.empty());
}

std::vector<Snapshot> finalizer_dumps(std::vector<std::string> finalizer) {
  finalizer.insert(finalizer.end(), {"coreclr!", "kernel32!BaseThreadInitThunk", "ntdll!RtlUserThreadStart"});
  return two_dumps([&](HangBuilder& builder, std::uint64_t) {
    builder.thread(1, finalizer, ".NET Finalizer").cpu(1);
    builder.thread(2, managed_thread({kWait, "coreclr!", "M System.GC.WaitForPendingFinalizers()", "M Orders.Clean()"}))
        .cpu(1);
  });
}

// Thread 1 has begun a collection and runs while it waits; thread 2 is in native code without the runtime's knowledge.
// The runtime suspends thread 2 again and again, which costs that thread processor time.
std::vector<Snapshot> pause_dumps(std::uint32_t first_owner, const std::string& leaf = kWait,
                                  const std::string& caller = "kernelbase!WaitForSingleObject",
                                  std::uint64_t cpu = 100) {
  return two_dumps([&](HangBuilder& builder, std::uint64_t i) {
    builder
        .thread(1, managed_thread({i == 0 ? "ntdll!NtSuspendThread" : kWait, "coreclr!", "M System.GC.Collect()",
                                   "M Orders.Clean()"}))
        .cpu(i * 300);
    builder.thread(2, managed_thread({leaf, caller, "M Orders.Ask()"})).cpu(i * cpu);
    builder.thread(3, managed_thread({kWait, "kernelbase!WaitForSingleObject", "M Orders.Print()"})).cpu(1);
    builder.lock({.kind = LockKind::pause, .owner = i == 0 ? first_owner : 2, .held = true, .waiters = {{1}}});
  });
}

TEST(FindingsTest, ACollectionThatWaitsForAThreadIsSaid) {
  const Findings findings = find(pause_dumps(2));
  ASSERT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::chain});
  EXPECT_EQ(severity(findings), Severity::stuck);
  EXPECT_EQ(findings.findings[0].title,
            "Managed code cannot go on: a garbage collection, or another pause, waits for thread 0x2");
  EXPECT_EQ(ids(findings, findings.findings[0]), (std::vector<std::uint32_t>{2, 1}));
  for (const ThreadHistory& thread : findings.threads) EXPECT_EQ(thread.since, 0u) << thread.os_id;
}

// Another thread stopped late, and then this one; or the thread allocates memory, or sleeps.
TEST(FindingsTest, ACollectionThatWaitsForAThreadAtWorkIsNoHang) {
  EXPECT_NE(severity(find(pause_dumps(3))), Severity::stuck);
  EXPECT_NE(severity(find(pause_dumps(2, "ntdll!NtAllocateVirtualMemory", "kernelbase!VirtualAlloc"))),
            Severity::stuck);
  EXPECT_NE(severity(find(pause_dumps(2, "ntdll!NtDelayExecution", "kernelbase!SleepEx"))), Severity::stuck);
  // It got no processor time, so it stops late.
  EXPECT_NE(severity(find(pause_dumps(2, "ntdll!RtlFreeHeap", "kernelbase!GlobalFree", 0))), Severity::stuck);
}

TEST(FindingsTest, AFinalizerThatHangsIsSaid) {
  const Findings findings = find(two_dumps([](HangBuilder& builder, std::uint64_t) {
    builder.thread(1,
                   {kWait, "coreclr!", "M System.Threading.WaitHandle.WaitOne()", "M Orders.File.Finalize()",
                    "coreclr!", "kernel32!BaseThreadInitThunk", "ntdll!RtlUserThreadStart"},
                   ".NET Finalizer");
  }));
  EXPECT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::finalizer});
  EXPECT_EQ(severity(findings), Severity::stuck);
}

// The runtime releases the object without a method.
TEST(FindingsTest, AFinalizerThreadThatHangsInAReleaseOfComIsSaid) {
  const std::vector<std::string> release = {kWait, "combase!CoWaitForMultipleHandles", "rpcrt4!NdrProxySendReceive",
                                            "rpcrt4!IUnknown_Release_Proxy", "coreclr!"};
  const Findings findings = find(finalizer_dumps(release));
  ASSERT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::finalizer});
  EXPECT_EQ(severity(findings), Severity::stuck);
  EXPECT_EQ(findings.findings[0].title, "The finalizer thread hangs in the release of an object of COM");
  EXPECT_EQ(ids(findings, findings.findings[0]), (std::vector<std::uint32_t>{1, 2}));
}

TEST(FindingsTest, OneWaiterForALockThatGoesRoundIsNoFinding) {
  const Findings findings = find(two_dumps([](HangBuilder& builder, std::uint64_t i) {
    builder.thread(1, managed_thread({i == 0 ? "orders_native!parse" : "orders_native!format", "M Orders.Run()"}))
        .cpu(i * 50);
    builder.thread(2, managed_thread(kEnter)).cpu(1).monitor(0xA, 1, {2});
  }));
  EXPECT_TRUE(findings.findings.empty());
  EXPECT_EQ(headline(findings), "nothing is stuck");
}

TEST(FindingsTest, WorkersThatWaitForDifferentThingsAreNoStarvedPool) {
  const std::vector<std::vector<std::string>> waits = {
      {kWait, "coreclr!", "M System.Threading.WaitHandle.WaitOne()", "M Orders.A()"},
      {"ntdll!NtDelayExecution", "coreclr!", "M System.Threading.Thread.Sleep(System.Int32)", "M Orders.B()"},
      {kWait, "ws2_32!accept", "M System.Net.Sockets.SocketPal.Accept(System.Int32)", "M Orders.C()"},
      {kWait, "coreclr!", "M System.Threading.WaitHandle.WaitOne()", "M Orders.D()"}};
  const auto dumps = [&](std::size_t alike) {
    return two_dumps([&](HangBuilder& builder, std::uint64_t) {
      for (std::uint32_t i = 0; i < waits.size(); ++i) {
        builder.thread(0x10 + i, pool_thread(i < alike ? waits[0] : waits[i]), ".NET TP Worker").cpu(1);
      }
    });
  };
  // Two of four wait for events: that is half of them.
  for (const FindingKind kind : kinds(find(dumps(1)))) EXPECT_NE(kind, FindingKind::starved_pool);
  EXPECT_THAT(kinds(find(dumps(2))), testing::Contains(FindingKind::starved_pool));
}

// The pool's workers run loops of the program, and nothing is queued. A starved pool would get further workers.
TEST(FindingsTest, WorkersThatWaitForTimeOrForASignalAreStarvedWhereThePoolGrows) {
  const std::vector<std::vector<std::string>> waits = {
      {"ntdll!NtDelayExecution", "coreclr!", "M System.Threading.Thread.Sleep(System.Int32)", "M Orders.Poll()"},
      {kWait, "ws2_32!recv", "M System.Net.Sockets.SocketPal.Receive(System.Int32)", "M Orders.Receive()"},
      {kWait, "coreclr!", "M System.Threading.WaitHandle.WaitOne()", "M Orders.Consume()"}};
  for (const auto& wait : waits) {
    const auto found = [&](bool grows) {
      return find(two_dumps([&](HangBuilder& builder, std::uint64_t i) {
        const std::uint32_t workers = grows && i == 0 ? 3 : 4;
        for (std::uint32_t k = 0; k < workers; ++k) {
          builder.thread(0x10 + k, pool_thread(wait), ".NET TP Worker").cpu(1);
        }
      }));
    };
    const Findings still = found(false);
    ASSERT_EQ(kinds(still), std::vector<FindingKind>{FindingKind::starved_pool});
    EXPECT_EQ(severity(still), Severity::note);
    EXPECT_EQ(headline(still), "nothing is stuck");
    EXPECT_EQ(still.findings[0].title, "The thread pool may be starved: all of its 4 workers wait");
    const Findings grown = found(true);
    EXPECT_EQ(severity(grown), Severity::stuck);
    EXPECT_EQ(grown.findings[0].title, "The thread pool is starved: all of its 4 workers are blocked");
  }
}

TEST(FindingsTest, HalfOfTheStuckThreadsHaveNoCallInCommon) {
  const auto dumps = [](std::uint32_t printers) {
    return two_dumps([&](HangBuilder& builder, std::uint64_t) {
      for (std::uint32_t i = 0; i < 4; ++i) {
        const std::string function = i < printers ? "orders_native!print" : "orders_native!scan" + std::to_string(i);
        builder.thread(0x10 + i, managed_thread({kWait, function, "P " + function, "M Orders.Run()"})).cpu(1);
      }
    });
  };
  for (const FindingKind kind : kinds(find(dumps(2)))) EXPECT_NE(kind, FindingKind::common_call);
  EXPECT_THAT(kinds(find(dumps(3))), testing::Contains(FindingKind::common_call));
}

// Real case: 1,000 threads in one call, of which 995 were listed apart, as if they waited for the other five.
TEST(FindingsTest, ThreadsInACallThatAreNotListedAreCounted) {
  const Findings findings = find(two_dumps([](HangBuilder& builder, std::uint64_t) {
    for (std::uint32_t id = 1; id <= 8; ++id) {
      builder.thread(id, managed_thread({kWait, "orders_native!wait_for_reply", "P orders_native!wait_for_reply",
                                         "M Orders.Run" + std::to_string(id) + "()"})).cpu(1);
    }
  }));
  ASSERT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::common_call});
  EXPECT_EQ(findings.findings[0].behind.size(), 3u);
  EXPECT_EQ(findings.findings[0].details[0], "3 of these 8 threads are not listed below.");
}

// If something blocks the finalizer thread, that is a separate finding.
TEST(FindingsTest, AFinalizerThatWaitsForALockIsPartOfItsChain) {
  const Findings findings = find(two_dumps([](HangBuilder& builder, std::uint64_t) {
    builder
        .thread(1,
                {kWait, "coreclr!", "M System.Threading.Monitor.Enter(System.Object)", "M Orders.File.Finalize()",
                 "coreclr!", "kernel32!BaseThreadInitThunk", "ntdll!RtlUserThreadStart"},
                ".NET Finalizer")
        .cpu(1);
    builder
        .thread(2, managed_thread(
                       {kWait, "orders_native!wait_for_reply", "P orders_native!wait_for_reply", "M Orders.Run()"}))
        .cpu(1)
        .monitor(0xA, 2, {1});
  }));
  EXPECT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::chain});
}

TEST(FindingsTest, WhoWaitsForAFinalizerThreadThatWaitsForALockStandsBehindIt) {
  const Findings findings = find(two_dumps([](HangBuilder& builder, std::uint64_t) {
    builder
        .thread(1,
                {kWait, "coreclr!", "M System.Threading.Monitor.Enter(System.Object)", "M Orders.File.Finalize()",
                 "coreclr!", "kernel32!BaseThreadInitThunk", "ntdll!RtlUserThreadStart"},
                ".NET Finalizer")
        .cpu(1);
    builder
        .thread(2, managed_thread(
                       {kWait, "orders_native!wait_for_reply", "P orders_native!wait_for_reply", "M Orders.Run()"}))
        .cpu(1)
        .monitor(0xA, 2, {1});
    builder.thread(3, managed_thread({kWait, "coreclr!", "M System.GC.WaitForPendingFinalizers()", "M Orders.Clean()"}))
        .cpu(1);
  }));
  ASSERT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::chain});
  EXPECT_EQ(findings.findings[0].behind.size(), 1u);
  EXPECT_EQ(findings.findings[0].details.back(),
            "The finalizer thread is one of them, and 1 more thread waits for its finalizers.");
}

const std::vector<std::string> kConstructorWait = {
    kWait, "coreclr!", "M System.Runtime.CompilerServices.InitHelpers.InitClassSlow(System.IntPtr)", "M Orders.Get()"};

// `runner` has the frames from the leaf to the static constructor's caller.
std::vector<Snapshot> constructor_dumps(const std::vector<std::vector<std::string>>& runners) {
  return two_dumps([&](HangBuilder& builder, std::uint64_t i) {
    builder.thread(1, managed_thread(kConstructorWait)).cpu(1);
    builder.thread(2, managed_thread(kConstructorWait)).cpu(1);
    for (std::uint32_t k = 0; k < runners.size(); ++k) {
      const bool runs = runners[k].front().starts_with("orders_native!");
      std::vector<std::string> frames = runners[k];
      if (runs && i == 1) frames.front() += "_more";
      builder.thread(10 + k, managed_thread(frames), "loading").cpu(runs ? i * 50 : 1);
    }
  });
}

const std::vector<std::string> kJoinInConstructor = {kWait, "coreclr!", "M System.Threading.Thread.Join()",
                                                     "M Orders.Settings..cctor()", "coreclr!", "M Orders.Load()"};

TEST(FindingsTest, AStaticConstructorThatDoesNotGoOnIsNamedFirst) {
  const Findings findings = find(constructor_dumps({kJoinInConstructor}));
  ASSERT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::class_constructor});
  EXPECT_EQ(severity(findings), Severity::stuck);
  const Finding& finding = findings.findings[0];
  EXPECT_EQ(finding.title, "2 threads wait for a static constructor that thread 0xa \"loading\" runs");
  EXPECT_EQ(ids(findings, finding), (std::vector<std::uint32_t>{10, 1, 2}));
  EXPECT_EQ(finding.threads[0].words,
            "runs the static constructor of Orders.Settings and waits for a thread to end (Thread.Join)");
}

// The runtime runs a static constructor inside a critical section.
TEST(FindingsTest, TheLockOfAStaticConstructorIsNoFindingOfItsOwn) {
  const auto dumps = [](bool constructs) {
    std::vector<Snapshot> made =
        constructor_dumps({constructs ? kJoinInConstructor
                                      : std::vector<std::string>{kWait, "coreclr!", "M System.Threading.Thread.Join()",
                                                                 "M Orders.Load()"}});
    for (Snapshot& dump : made) {
      dump.locks.push_back(
          {.kind = LockKind::critical_section, .address = 0xC, .owner = 10, .held = true, .waiters = {{1}}});
    }
    return find(made);
  };
  EXPECT_EQ(kinds(dumps(true)), std::vector<FindingKind>{FindingKind::class_constructor});
  EXPECT_EQ(kinds(dumps(false)), (std::vector<FindingKind>{FindingKind::chain, FindingKind::stuck}));
}

// The methods of .NET between the program and the runtime are inlined in a composite image.
TEST(FindingsTest, AMethodOfDotnetIsInlinedBelowAConstructorsLock) {
  const auto findings_with = [](const std::vector<std::string>& waiter, const std::vector<std::string>& holder) {
    return find(two_dumps([&](HangBuilder& builder, std::uint64_t) {
      builder.thread(1, managed_thread(waiter)).cpu(1);
      builder.thread(10, managed_thread(holder), "loading").cpu(1);
      builder.lock({.kind = LockKind::critical_section, .address = 0xC, .owner = 10, .held = true, .waiters = {{1}}});
    }));
  };
  const std::vector<std::string> inlined = {kWait, "ntdll!RtlEnterCriticalSection", "coreclr!", "M Orders.Get()"};
  const Findings found = findings_with(inlined, kJoinInConstructor);
  ASSERT_EQ(kinds(found), std::vector<FindingKind>{FindingKind::class_constructor});
  EXPECT_EQ(found.findings[0].title, "1 thread waits for a static constructor that thread 0xa \"loading\" runs");
  // Another owner, and a section of the program.
  EXPECT_EQ(kinds(findings_with(inlined, {kWait, "coreclr!", "M System.Threading.Thread.Join()", "M Orders.Load()"})),
            std::vector<FindingKind>{FindingKind::chain});
  EXPECT_EQ(kinds(findings_with({kWait, "ntdll!RtlEnterCriticalSection", "orders_native!log", "P orders_native!log",
                                 "M Orders.Get()"}, kJoinInConstructor)),
            std::vector<FindingKind>{FindingKind::chain});
}

TEST(FindingsTest, AStaticConstructorAndAMonitorThatAreTakenCrosswise) {
  std::vector<Snapshot> dumps =
      constructor_dumps({{kWait, "coreclr!", "M System.Threading.Monitor.Enter(System.Object)",
                          "M Orders.Settings..cctor()", "coreclr!", "M Orders.Load()"}});
  for (Snapshot& dump : dumps) {
    dump.locks.push_back(
        {.kind = LockKind::critical_section, .address = 0xC, .owner = 10, .held = true, .waiters = {{1}}});
    dump.locks.push_back({.address = 0xA, .type = "System.Object", .owner = 1, .held = true, .waiters = {{10}}});
  }
  const Findings findings = find(dumps);
  EXPECT_EQ(kinds(findings), (std::vector<FindingKind>{FindingKind::deadlock, FindingKind::class_constructor}));
  EXPECT_EQ(findings.findings[0].threads[0].words,
            "waits for a static constructor that thread 0xa \"loading\" runs");
}

TEST(FindingsTest, OfTwoStaticConstructorsBothAreNamed) {
  const Findings findings = find(constructor_dumps({kJoinInConstructor, kJoinInConstructor}));
  ASSERT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::class_constructor});
  EXPECT_EQ(findings.findings[0].title, "2 threads wait for a static constructor; 2 threads run one");
}

// A thread that waits for a constructor may itself be in another one, and nothing says for which of them the others
// wait.
TEST(FindingsTest, AConstructorThatWaitsForAnotherOneIsCounted) {
  const Findings findings = find(constructor_dumps(
      {kJoinInConstructor,
       {kWait, "coreclr!", "M System.Runtime.CompilerServices.InitHelpers.InitClassSlow(System.IntPtr)",
        "M Orders.Prices..cctor()", "coreclr!", "M Orders.Load()"}}));
  ASSERT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::class_constructor});
  EXPECT_EQ(findings.findings[0].title, "3 threads wait for a static constructor; 2 threads run one");
}

const std::vector<std::string> kConstructorGoesOn = {"orders_native!parse", "M Orders.Prices..cctor()", "coreclr!",
                                                     "M Orders.Load()"};

// A static constructor may well call a main loop. It stays there for ever, and blocks no thread.
TEST(FindingsTest, WhereOneStaticConstructorGoesOnNobodyIsStuck) {
  std::vector<Snapshot> dumps = constructor_dumps({kJoinInConstructor, kConstructorGoesOn});
  const Findings unknown = find(dumps);
  ASSERT_EQ(kinds(unknown), std::vector<FindingKind>{FindingKind::class_constructor});
  EXPECT_EQ(severity(unknown), Severity::note);
  EXPECT_EQ(unknown.findings[0].title,
            "2 threads wait for a static constructor: for one that makes progress, or for one that does not");
  for (Snapshot& dump : dumps) {
    dump.locks.push_back({.kind = LockKind::critical_section, .address = 0xC, .owner = 11, .held = true,
                          .waiters = {{1}, {2}}});
  }
  const Findings known = find(dumps);
  EXPECT_EQ(kinds(known), std::vector<FindingKind>{FindingKind::contended});
  EXPECT_EQ(headline(known), "nothing is stuck");
}

TEST(FindingsTest, AStaticConstructorThatGoesOnHoldsNobodyUp) {
  const Findings findings =
      find(constructor_dumps({{"orders_native!parse", "M Orders.Settings..cctor()", "coreclr!", "M Orders.Load()"}}));
  EXPECT_TRUE(findings.findings.empty());
  EXPECT_EQ(headline(findings), "nothing is stuck");
}

TEST(FindingsTest, AStaticConstructorThatNobodyIsSeenInIsNotNamed) {
  const Findings findings = find(constructor_dumps({}));
  EXPECT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::stuck});
}

// A method may have any name.
TEST(FindingsTest, AMethodThatIsCalledLikeAStaticConstructorIsNone) {
  const Findings findings = find(constructor_dumps({{kWait, "coreclr!", "M System.Threading.Thread.Join()",
                                                     "M Orders.Settings..cctor.Load()"}}));
  EXPECT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::stuck});
}

// Two dumps in which thread 1 waits for a callback of a cancellation that thread 2 runs. `callback`: the frames of the
// callback in each of them.
std::vector<Snapshot> callback_dumps(const std::vector<std::vector<std::string>>& callback) {
  return two_dumps([&](HangBuilder& builder, std::uint64_t i) {
    builder
        .thread(1, managed_thread({"ntdll!NtDelayExecution", "M System.Threading.SpinWait.SpinOnceCore(System.Int32)",
                                   "M System.Threading.CancellationTokenRegistration.Dispose()",
                                   "M Orders.Client.Close()"}))
        .cpu(1);
    std::vector<std::string> runner = callback[i];
    runner.insert(runner.end(), {"M System.Threading.CancellationTokenSource.ExecuteCallbackHandlers(System.Boolean)",
                                 "M System.Threading.CancellationTokenSource.Cancel()", "M Orders.Client.Stop()"});
    builder.thread(2, managed_thread(runner)).cpu(1);
  });
}

TEST(FindingsTest, WhoWaitsForACallbackOfACancellationThatGoesOnIsNotStuck) {
  const std::vector<std::string> saves = {"ntdll!NtReadFile", "M Orders.Client.Save()"},
                                 sends = {"ntdll!NtReadFile", "M Orders.Client.Send()"},
                                 sleeps = {"ntdll!NtDelayExecution", "M Orders.Client.Pause()"};
  EXPECT_EQ(headline(find(callback_dumps({saves, sends}))), "nothing is stuck");
  EXPECT_EQ(headline(find(callback_dumps({sleeps, sleeps}))), "nothing is stuck");
  EXPECT_EQ(headline(find(callback_dumps({kNativeReply, kNativeReply}))), "2 threads are stuck");
  // The callback does not move, but it is not known whether it waits.
  const std::vector<std::string> unknown = {"ntdll!NtFuture", "M Orders.Client.Save()"};
  auto unclear = callback_dumps({unknown, unknown});
  for (Snapshot& dump : unclear) dump.threads[1].cpu.reset();
  EXPECT_EQ(headline(find(unclear)), "nothing is stuck");
}

std::vector<Snapshot> apartment_dumps(const std::string& image) {
  return two_dumps([&](HangBuilder& builder, std::uint64_t) {
    for (std::uint32_t i = 0; i < 3; ++i) {
      const std::string call = "C Orders.IOrders.Submit" + std::to_string(i) + "()";
      builder.thread(0x10 + i, managed_thread({kWait, image, call, "M Orders.Run()"})).cpu(1);
    }
  });
}

TEST(FindingsTest, CallsOfSeveralMethodsIntoAnotherApartmentAreOneFinding) {
  const Findings findings = find(apartment_dumps("combase!"));
  ASSERT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::common_call});
  EXPECT_EQ(findings.findings[0].title,
            "3 threads have not come back from COM calls into another apartment or process");
  EXPECT_EQ(
      findings.findings[0].details[0].find("The thread that should answer belongs to a single-threaded apartment"), 0u);
}

// Real case: apartments that call each other back to back, on a machine on which a thread got 10 ms of a second.
TEST(FindingsTest, ComCallsAreAnsweredIfOneOfThemHasMoved) {
  const auto with = [](auto change) {
    std::vector<Snapshot> dumps = apartment_dumps("combase!");
    for (Snapshot& dump : dumps) {
      for (Thread& thread : dump.threads) thread.cpu = *thread.cpu + (&dump - dumps.data()) * 100'000;  // 10 ms
    }
    change(dumps);
    return headline(find(dumps));
  };
  EXPECT_EQ(with([](const auto&) {}), "3 threads are stuck");
  // The thread answers a call while it waits for the answer to its own.
  std::size_t answering = 0;
  const auto answers = [&](std::vector<Snapshot>& dumps) {
    std::vector<StackFrame>& frames = dumps[1].threads[answering].stack.frames;
    StackFrame handler = frames.front();
    handler.address += 0x10;
    frames.insert(frames.begin(), handler);
  };
  for (; answering < 3; ++answering) EXPECT_EQ(with(answers), "nothing is stuck") << answering;
  answering = 2;
  EXPECT_EQ(with([](auto& dumps) { *dumps[1].threads[2].cpu += 1'000'000; }), "2 threads are stuck")
      << "it may have handled messages, such as those of a window";
  EXPECT_EQ(with([&](auto& dumps) {
              answers(dumps);
              dumps[1].locks.push_back(
                  {.kind = LockKind::com_call, .owner = 0x99, .held = true, .waiters = {{0x10}, {0x11}}});
            }),
            "2 threads are stuck")
      << "it is known which thread should answer";
}

TEST(FindingsTest, ComCallsThatStayInTheApartmentAreTheirMethods) {
  const Findings findings = find(apartment_dumps("orders_native!submit"));
  EXPECT_EQ(kinds(findings), std::vector<FindingKind>(3, FindingKind::stuck));
}

TEST(FindingsTest, WhoWaitsForTheFinalizerThreadStandsWithIt) {
  const Findings findings = find(
      finalizer_dumps({kWait, "coreclr!", "M System.Threading.WaitHandle.WaitOne()", "M Orders.File.Finalize()"}));
  ASSERT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::finalizer});
  EXPECT_EQ(ids(findings, findings.findings[0]), (std::vector<std::uint32_t>{1, 2}));
}

TEST(FindingsTest, WhoWaitsForAnIdleFinalizerThreadIsStuckAlone) {
  const Findings findings = find(finalizer_dumps({kWait, "coreclr!"}));
  EXPECT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::stuck});
}

const std::string kSleep = "M System.Threading.Thread.Sleep(System.Int32)";

TEST(FindingsTest, AFinalizerThatSleepsHoldsNobodyForGood) {
  const Findings findings = find(finalizer_dumps({kWait, "coreclr!", kSleep, "M Orders.File.Finalize()"}));
  ASSERT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::finalizer});
  EXPECT_EQ(severity(findings), Severity::note);
  EXPECT_EQ(findings.findings[0].title, "The finalizer thread sleeps in a finalizer");
  EXPECT_EQ(ids(findings, findings.findings[0]), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(findings.threads[1].verdict, Verdict::waiting);
}

// Before, the thread that waits was stuck alone, and nothing said that the other one is the cause.
TEST(FindingsTest, AFinalizerThatRunsAllTheTimeIsNamedWithWhoWaitsForIt) {
  const Findings findings = find(two_dumps([](HangBuilder& builder, std::uint64_t i) {
    builder
        .thread(1,
                {"orders_native!count", "M Orders.File.Finalize()", "coreclr!", "kernel32!BaseThreadInitThunk",
                 "ntdll!RtlUserThreadStart"},
                ".NET Finalizer")
        .cpu(9'000 * i);
    builder.thread(2, managed_thread({kWait, "coreclr!", "M System.GC.WaitForPendingFinalizers()", "M Orders.Clean()"}))
        .cpu(1);
  }));
  ASSERT_EQ(kinds(findings), (std::vector<FindingKind>{FindingKind::finalizer, FindingKind::spinning}));
  EXPECT_EQ(findings.findings[0].title, "The finalizer thread runs all the time in a finalizer");
  EXPECT_EQ(ids(findings, findings.findings[0]), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(findings.findings[0].threads[0].words, "ran for 9 s of 10 s and did not leave its function");
  EXPECT_EQ(headline(findings), "1 thread is stuck");
}

TEST(FindingsTest, WhoWaitsForFinalizersThatGoOnIsNotStuck) {
  const Findings findings = find(two_dumps([](HangBuilder& builder, std::uint64_t i) {
    builder.thread(1, {kWait, "coreclr!", "M System.Threading.WaitHandle.WaitOne()",
                       i == 0 ? "M Orders.File.Finalize()" : "M Orders.Pipe.Finalize()", "coreclr!",
                       "kernel32!BaseThreadInitThunk", "ntdll!RtlUserThreadStart"}, ".NET Finalizer").cpu(i);
    builder.thread(2, managed_thread({kWait, "coreclr!", "M System.GC.WaitForPendingFinalizers()", "M Orders.Clean()"}))
        .cpu(1);
  }));
  EXPECT_TRUE(findings.findings.empty());
  EXPECT_EQ(findings.threads[1].verdict, Verdict::waiting);
}

TEST(FindingsTest, AFinalizerThatWaitsForALockInTurnHangsNobodyUp) {
  auto dumps = finalizer_dumps(
      {kWait, "coreclr!", "M System.Threading.Monitor.Enter(System.Object)", "M Orders.File.Finalize()"});
  for (std::uint32_t i = 0; i < 2; ++i) {
    HangBuilder others;
    for (const std::uint32_t id : {3, 4})
      others.thread(id, managed_thread({"orders_native!work", "M Orders.Run()"})).cpu(i * 50);
    std::ranges::copy(others.snapshot().threads, std::back_inserter(dumps[i].threads));
    dumps[i].locks = others.monitor(0xA, 3 + i, {1}).snapshot().locks;
  }
  const Findings findings = find(dumps);
  EXPECT_EQ(headline(findings), "nothing is stuck");
  EXPECT_EQ(findings.threads[1].verdict, Verdict::waiting);
}

// The finalizer does not move, but it is not known whether it waits.
TEST(FindingsTest, WhoWaitsForAnUnclearFinalizerIsUnclear) {
  const std::vector<std::string> finalizer = {"ntdll!NtFuture", "M Orders.File.Finalize()"};
  auto dumps = finalizer_dumps(finalizer);
  EXPECT_EQ(headline(find(dumps)), "1 thread is stuck") << "it has not run";
  for (Snapshot& dump : dumps) dump.threads[0].cpu.reset();
  const Findings findings = find(dumps);
  EXPECT_EQ(headline(findings), "nothing is stuck");
  EXPECT_EQ(findings.threads[1].verdict, Verdict::unclear);
}

TEST(FindingsTest, ALockOfAThreadThatWaitsForFinalizersThatGoOnIsContended) {
  std::vector<Snapshot> dumps = two_dumps([](HangBuilder& builder, std::uint64_t i) {
    builder.thread(1, {kWait, "coreclr!", "M System.Threading.WaitHandle.WaitOne()",
                       i == 0 ? "M Orders.File.Finalize()" : "M Orders.Pipe.Finalize()", "coreclr!",
                       "kernel32!BaseThreadInitThunk", "ntdll!RtlUserThreadStart"}, ".NET Finalizer").cpu(1);
    builder.thread(2, managed_thread({kWait, "coreclr!", "M System.GC.WaitForPendingFinalizers()", "M Orders.Clean()"}))
        .cpu(1);
    for (const std::uint32_t id : {3, 4}) builder.thread(id, managed_thread(kEnter)).cpu(1);
    builder.monitor(0xA, 2, {3, 4});
  });
  const Findings findings = find(dumps);
  EXPECT_EQ(headline(findings), "nothing is stuck");
  EXPECT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::contended});
}

constexpr const char* kHandler = "M Orders.Program.OnExit(System.Object, System.EventArgs)";

// `wait`: the frames by which the handler waits.
std::vector<Snapshot> exit_dumps(const std::vector<std::string>& wait, bool asked = true) {
  return two_dumps([&](HangBuilder& builder, std::uint64_t) {
    std::vector<std::string> finalizer = wait;
    finalizer.insert(finalizer.end(),
                     {kHandler, "coreclr!", "kernel32!BaseThreadInitThunk", "ntdll!RtlUserThreadStart"});
    builder.thread(1, finalizer, ".NET Finalizer").cpu(1);
    const std::string exit = asked ? "M System.Environment._Exit(System.Int32)" : "M System.Threading.Thread.Join()";
    builder.thread(2, managed_thread({kWait, "coreclr!", exit, "M Orders.Program.Main()"})).cpu(1);
  });
}

TEST(FindingsTest, AHandlerOfProcessExitEndsTheProgram) {
  const Findings hangs =
      find(exit_dumps({kWait, "orders_native!flush", "P orders_native!flush", "M Orders.Store.Flush()"}));
  ASSERT_EQ(kinds(hangs), std::vector<FindingKind>{FindingKind::exit});
  EXPECT_EQ(severity(hangs), Severity::stuck);
  EXPECT_EQ(hangs.findings[0].title, "The program does not end: a handler of ProcessExit hangs");
  EXPECT_EQ(hangs.findings[0].details[0], "Thread 0x2 has called Environment.Exit.");

  // It may wait until the work that is left is done.
  const std::vector<std::string> drain = {kWait, "coreclr!", "M System.Threading.WaitHandle.WaitOne()",
                                          "M Orders.Drain()"};
  const Findings drains = find(exit_dumps(drain));
  ASSERT_EQ(kinds(drains), std::vector<FindingKind>{FindingKind::exit});
  EXPECT_EQ(severity(drains), Severity::note);
  EXPECT_EQ(drains.findings[0].title, "The program ends, and waits for a handler of ProcessExit");

  const Findings returned = find(exit_dumps(drain, false));
  ASSERT_EQ(kinds(returned), std::vector<FindingKind>{FindingKind::exit});
  EXPECT_EQ(returned.findings[0].details[0],
            "It is not seen who has asked for its end: Main may have returned, or the system ends the program.");
}

// The JIT has made a jump of the handler's call, and has inlined Environment.Exit.
TEST(FindingsTest, AHandlerOfProcessExitWithoutItsFrames) {
  const auto kind = [](std::vector<std::string> finalizer) {
    finalizer.insert(finalizer.end(), {"kernel32!BaseThreadInitThunk", "ntdll!RtlUserThreadStart"});
    return kinds(find(two_dumps([&](HangBuilder& builder, std::uint64_t) {
      builder.thread(1, finalizer, ".NET Finalizer").cpu(1);
    })));
  };
  const std::string wait = "M System.Threading.WaitHandle.WaitOne()";
  EXPECT_EQ(kind({kWait, "coreclr!", wait, "M Orders.Drain()", "coreclr!"}),
            std::vector<FindingKind>{FindingKind::exit});
  EXPECT_EQ(kind({kWait, "coreclr!", wait, "M Orders.Drain()", "M Orders.File.Finalize()", "coreclr!"}),
            std::vector<FindingKind>{FindingKind::finalizer});
  EXPECT_EQ(kind({kWait, "coreclr!", wait, "M Orders.Sink.Release()", "combase!", "coreclr!"}),
            std::vector<FindingKind>{FindingKind::finalizer});
}

TEST(FindingsTest, AHandlerOfProcessExitThatWaitsForALockIsPartOfItsChain) {
  const Findings findings = find(two_dumps([](HangBuilder& builder, std::uint64_t) {
    builder.thread(1, {kWait, "coreclr!", "M System.Threading.Monitor.Enter(System.Object)", kHandler, "coreclr!",
                       "kernel32!BaseThreadInitThunk", "ntdll!RtlUserThreadStart"}, ".NET Finalizer").cpu(1);
    builder
        .thread(2, managed_thread({kWait, "coreclr!", "M System.Environment.Exit(System.Int32)", "M Orders.Leave()"}))
        .cpu(1)
        .monitor(0xA, 2, {1});
  }));
  ASSERT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::chain});
  EXPECT_EQ(severity(findings), Severity::stuck);
  EXPECT_EQ(findings.findings[0].details.back(),
            "The program ends: the finalizer thread runs the handlers of ProcessExit. Thread 0x2 has called "
            "Environment.Exit.");
}

TEST(FindingsTest, ALockOfAThreadThatHasEnded) {
  const Findings findings = find(two_dumps([](HangBuilder& builder, std::uint64_t) {
    builder.thread(1, managed_thread(kEnter)).monitor(0xA, 0x63, {1});
  }));
  ASSERT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::chain});
  EXPECT_EQ(findings.findings[0].title, "1 thread waits for a lock of thread 0x63, which is not in the dump");
}

// Threads take turns: `lock (x) { Thread.Sleep(…) }`. `holders` gives for each dump the thread that holds the lock; the
// others wait.
std::vector<Snapshot> turns(const std::vector<std::uint32_t>& holders, std::uint32_t threads,
                            const std::vector<std::string>& holds = {"ntdll!NtDelayExecution", "coreclr!",
                                                                     "M System.Threading.Thread.Sleep(System.Int32)",
                                                                     "M Orders.Turn()"}) {
  std::vector<Snapshot> dumps;
  for (std::size_t i = 0; i < holders.size(); ++i) {
    HangBuilder builder(kFirst + i * 10'000);
    std::vector<std::uint32_t> waiters;
    for (std::uint32_t id = 1; id <= threads; ++id) {
      builder.thread(id, managed_thread(id == holders[i] ? holds : kEnter), "turn").cpu(1);
      if (id != holders[i]) waiters.push_back(id);
    }
    builder.monitor(0xA, holders[i], waiters);
    dumps.push_back(builder.snapshot());
  }
  return dumps;
}

// It is chance which thread holds the lock at the moment of a dump.
TEST(FindingsTest, ThreadsThatTakeTurnsAreNotStuck) {
  for (const auto& holders : std::vector<std::vector<std::uint32_t>>{
           {1, 2}, {1, 1}, {1, 1, 1}, {1, 2, 1}, {1, 2, 2}, {2, 1, 1}, {1, 2, 3}, {1, 1, 2, 2}}) {
    for (const std::uint32_t threads : {3u, 5u}) {
      const Findings findings = find(turns(holders, threads));
      EXPECT_EQ(severity(findings), Severity::note) << findings.findings[0].title;
      EXPECT_EQ(headline(findings), "nothing is stuck");
      for (const ThreadHistory& thread : findings.threads) EXPECT_NE(thread.verdict, Verdict::stuck);
    }
  }
  EXPECT_EQ(headline(find(turns({1, 1}, 2))), "nothing is stuck");
}

TEST(FindingsTest, AHolderThatSleepsIsNamedAndHoldsNobodyUp) {
  const Findings findings = find(turns({1, 1}, 2));
  ASSERT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::contended});
  EXPECT_EQ(findings.findings[0].title, "1 thread waits for what thread 0x1 \"turn\" holds");
  EXPECT_EQ(findings.findings[0].details[0],
            "The holder sleeps. It continues by itself, unless it sleeps for ever. No thread is stuck.");
}

// The turns have ended: since the second dump the same thread holds the lock, and does not continue.
TEST(FindingsTest, ALockThatWentRoundAndThenStopped) {
  const Findings findings = find(turns({2, 1, 1}, 3, kNativeReply));
  ASSERT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::chain});
  EXPECT_EQ(severity(findings), Severity::stuck);
  EXPECT_EQ(findings.findings[0].since, 1u);
  for (const ThreadHistory& thread : findings.threads) {
    EXPECT_EQ(thread.since, 1u);
    EXPECT_EQ(thread.milliseconds, 10'000u);
  }
}

// The third thread waits for the lock in both dumps, but the owner of the lock has changed in between.
TEST(FindingsTest, AWaiterOfALockWithAnotherOwnerGoesOn) {
  std::vector<Snapshot> dumps = turns({1, 1}, 3, kNativeReply);
  EXPECT_EQ(severity(find(dumps)), Severity::stuck);
  // The owner itself must not show that it moved.
  for (Thread& thread : dumps[0].threads) {
    if (thread.os_id == 2) thread.stack = dumps[0].threads[0].stack;
  }
  dumps[0].locks[0].owner = 2;
  dumps[0].locks[0].waiters = {{1}, {3}};
  const Findings findings = find(dumps);
  for (const ThreadHistory& thread : findings.threads) {
    EXPECT_EQ(thread.verdict == Verdict::waiting, thread.os_id == 3) << thread.os_id;
  }
}

// An SRW lock does not say which thread holds it.
TEST(FindingsTest, ALockThatAnotherWaiterGotHasGoneRound) {
  const std::vector<std::string> acquire = {"ntdll!NtWaitForAlertByThreadId", "ntdll!RtlAcquireSRWLockExclusive",
                                            "orders_native!get"};
  const auto dumps = [&](std::vector<std::string> later) {
    return two_dumps([&](HangBuilder& builder, std::uint64_t i) {
      builder.thread(1, test::native_thread(acquire)).cpu(1);
      builder.thread(2, test::native_thread(i == 0 ? acquire : later)).cpu(1);
      Lock lock{.kind = LockKind::srw_lock, .address = 0xA, .held = true, .waiters = {{1}}};
      if (i == 0 || later == acquire) lock.waiters.push_back({2});
      builder.lock(std::move(lock));
    });
  };
  EXPECT_EQ(headline(find(dumps(acquire))), "2 threads are stuck");
  EXPECT_EQ(headline(find(dumps({"orders_native!work"}))), "nothing is stuck");
}

// A dump of a running process does not show a lock whose owner changed while the dump was made.
TEST(FindingsTest, AMonitorThatIsNotShownGoesFromHandToHand) {
  const auto dumps = [](auto change) {
    return two_dumps([&](HangBuilder& builder, std::uint64_t i) {
      builder.thread(1, managed_thread(kEnter)).cpu(1);
      change(builder.snapshot(), i);
    });
  };
  EXPECT_EQ(headline(find(dumps([](Snapshot&, std::uint64_t) {}))), "nothing is stuck");
  EXPECT_EQ(headline(find(dumps([](Snapshot& dump, std::uint64_t) {
              dump.locks_missing = "mixwalk did not look for locks (--no-locks)";
            }))),
            "1 thread is stuck");
  EXPECT_EQ(headline(find(dumps([](Snapshot& dump, std::uint64_t) { dump.runtime.major = 11; }))), "1 thread is stuck");
  // The monitor is known only in the last dump; in the dump before, its owner changed while the dump was made.
  EXPECT_EQ(headline(find(dumps([](Snapshot& dump, std::uint64_t i) {
              if (i == 1) dump.locks.push_back({.address = 0xA, .held = true, .waiters = {{1}}});
            }))),
            "nothing is stuck");
}

TEST(FindingsTest, AWaiterOfALockThatNobodyHoldsIsNotStuck) {
  const auto dumps = [](bool held) {
    return two_dumps([&](HangBuilder& builder, std::uint64_t) {
      builder.thread(1, test::native_thread({kWait, "ntdll!RtlEnterCriticalSection", "orders_native!get"})).cpu(1);
      builder.lock({.kind = LockKind::critical_section, .address = 0xA, .held = held, .waiters = {{1}}});
    });
  };
  EXPECT_EQ(headline(find(dumps(true))), "1 thread is stuck");
  EXPECT_EQ(headline(find(dumps(false))), "nothing is stuck");
}

// The frames of a thread that asks for a ReaderWriterLockSlim, from the leaf to Orders.Book.Put.
std::vector<std::string> enters(const std::string& method = "EnterWriteLock()") {
  return managed_thread({kWait, "coreclr!", "M System.Threading.WaitHandle.WaitOneNoCheck(System.Int32)",
                         "M System.Threading.ReaderWriterLockSlim.WaitOnEvent(System.Threading.EventWaitHandle)",
                         "M System.Threading.ReaderWriterLockSlim." + method, "M Orders.Book.Put()",
                         "M Orders.Web.Run()"});
}

// Four threads that ask for a lock whose owner is not known. `frames(dump, thread)`: empty if that dump lacks the
// thread.
template <class Frames>
Findings found_without_owner(std::size_t dumps, Frames frames) {
  std::vector<Snapshot> made;
  for (std::size_t i = 0; i < dumps; ++i) {
    HangBuilder builder(kFirst + i * 10'000);
    for (std::uint32_t id = 1; id <= 4; ++id) {
      if (std::vector<std::string> stack = frames(i, id); !stack.empty()) builder.thread(id, stack, "turn").cpu(1);
    }
    made.push_back(builder.snapshot());
  }
  return find(made);
}

const std::vector<std::string> kElsewhere =
    managed_thread({"ntdll!NtDelayExecution", "coreclr!", kSleep, "M Orders.Rest()"});
const std::vector<std::string> kReply = managed_thread({kWait, "orders_native!wait_for_reply",
                                                        "P orders_native!wait_for_reply", "M Orders.Book.Put()",
                                                        "M Orders.Web.Run()"});

// Real case: 12 threads that held a ReaderWriterLockSlim for 0.7 s each were "10 threads are stuck".
TEST(FindingsTest, ALockWithoutAnOwnerThatOneOfItsWaitersGotGoesRound) {
  const auto found = [](std::vector<std::string> later) {
    return found_without_owner(2, [&](std::size_t dump, std::uint32_t id) {
      return dump == 1 && id == 4 ? later : enters();
    });
  };
  EXPECT_EQ(headline(found(enters())), "4 threads are stuck");
  const Findings turns = found(kElsewhere);
  EXPECT_EQ(headline(turns), "nothing is stuck");
  for (const ThreadHistory& thread : turns.threads) EXPECT_NE(thread.verdict, Verdict::stuck);
  EXPECT_EQ(headline(found({})), "nothing is stuck") << "the thread has had its turn, and has ended";
}

TEST(FindingsTest, AThreadThatHasLeftAnotherCallProvesNothing) {
  const auto found = [](std::vector<std::string> earlier) {
    return found_without_owner(2, [&](std::size_t dump, std::uint32_t id) {
      return id != 4 ? enters() : dump == 0 ? earlier : kElsewhere;
    });
  };
  EXPECT_EQ(headline(found(enters())), "nothing is stuck");
  std::vector<std::string> other_method = enters();
  std::ranges::replace(other_method, "M Orders.Book.Put()", "M Orders.Stock.Put()");
  EXPECT_EQ(headline(found(other_method)), "3 threads are stuck");
  EXPECT_EQ(headline(found(managed_thread({kWait, "coreclr!", "M System.Threading.Monitor.Enter(System.Object)",
                                           "M Orders.Book.Put()", "M Orders.Web.Run()"}))),
            "3 threads are stuck");
  EXPECT_EQ(headline(found(enters("TryEnterWriteLock(System.Int32)"))), "3 threads are stuck")
      << "it may have given up";
  EXPECT_EQ(headline(found(enters("TryEnterWriteLock(System.Threading.ReaderWriterLockSlim+TimeoutTracker)"))),
            "nothing is stuck") << "the JIT has made one method of it and of EnterWriteLock";
}

// Readers and writers of a ReaderWriterLock ask for it in different methods.
TEST(FindingsTest, AReaderWriterLockThatAReaderGotPassesOn) {
  const auto asks = [](const std::string& method, const std::string& program) {
    return managed_thread({kWait, "coreclr!", "M System.Threading.WaitHandle.WaitOne(System.Int32)",
                           "M System.Threading.ReaderWriterLock." + method + "(System.Int32)", program,
                           "M Orders.Web.Run()"});
  };
  const auto writes = asks("AcquireWriterLock", "M Orders.Book.Put()");
  const auto reads = asks("AcquireReaderLock", "M Orders.Book.Get()");
  const auto found = [&](const std::vector<std::string>& later) {
    return found_without_owner(
        2, [&](std::size_t dump, std::uint32_t id) { return id != 4 ? writes : dump == 0 ? reads : later; });
  };
  EXPECT_EQ(headline(found(reads)), "4 threads are stuck");
  EXPECT_EQ(headline(found(kElsewhere)), "nothing is stuck");
}

TEST(FindingsTest, RoomInACollectionThatAnotherThreadGotIsForAll) {
  std::string arguments = "<System.Int32>";
  const auto adds = [&](const std::string& method) {
    const std::string of = "M System.Collections.Concurrent.BlockingCollection" + arguments + '.';
    return managed_thread(
        {kWait, "coreclr!", "M System.Threading.Monitor.Wait(System.Object)",
         "M System.Threading.SemaphoreSlim.Wait(System.Int32, System.Threading.CancellationToken)",
         of + "TryAddWithNoTimeValidation(System.Int32, System.Int32, System.Threading.CancellationToken)", of + method,
         "M Orders.Book.Put()", "M Orders.Web.Run()"});
  };
  const auto found = [&](const std::vector<std::string>& earlier, const std::vector<std::string>& later) {
    return found_without_owner(2, [&](std::size_t dump, std::uint32_t id) {
      return id != 4 ? adds("Add(System.Int32)") : dump == 0 ? earlier : later;
    });
  };
  EXPECT_EQ(headline(found(adds("Add(System.Int32)"), adds("Add(System.Int32)"))), "4 threads are stuck");
  EXPECT_EQ(headline(found(adds("Add(System.Int32)"), kElsewhere)), "nothing is stuck");
  const std::string tries[] = {"TryAdd(System.Int32, System.Int32)",
                               "TryAddWithNoTimeValidation(System.Int32, System.Int32, System.Threading."
                               "CancellationToken)"};  // to which TryAdd jumps
  for (const std::string& method : tries) {
    EXPECT_EQ(headline(found(adds(method), kElsewhere)), "3 threads are stuck") << "it may have given up: " << method;
  }
  arguments.clear();  // as a look from inside names methods of .NET 8 and 9
  for (const std::string& method : tries) {
    EXPECT_EQ(headline(found(adds(method), kElsewhere)), "3 threads are stuck") << method;
  }
  // A thread that rests between two calls of Add() proves nothing.
  const std::vector<std::string> rests =
      managed_thread({"ntdll!NtDelayExecution", "coreclr!", kSleep, "M Orders.Book.Put()", "M Orders.Web.Run()"});
  EXPECT_EQ(headline(found(rests, rests)), "3 threads are stuck");
}

// It waits for room, or for an item.
TEST(FindingsTest, AHolderOfALockWhoseQueueMovesGoesOn) {
  const auto found = [](const std::string& method, std::uint64_t position) {
    std::vector<Snapshot> dumps;
    for (const std::uint64_t now : {std::uint64_t{5}, position}) {
      HangBuilder builder(kFirst + dumps.size() * 10'000);
      builder.thread(1, managed_thread({kWait, "coreclr!", "M System.Threading.Monitor.Wait(System.Object)",
                                        "M System.Threading.SemaphoreSlim.Wait(System.Int32)",
                                        "M System.Collections.Concurrent.BlockingCollection<System.Int32>." + method,
                                        "M Orders.Book.Put()"}));
      builder.last().queue_position = now;
      for (const std::uint32_t id : {2u, 3u}) {
        builder.thread(id, managed_thread({kWait, "coreclr!", "M System.Threading.Monitor.Enter(System.Object)",
                                           "M Orders.Book.Get()"}));
      }
      dumps.push_back(builder.monitor(0x1000, 1, {2, 3}).snapshot());
    }
    return find(dumps);
  };
  for (const char* const method : {"Add(System.Int32)", "Take()"}) {
    EXPECT_EQ(headline(found(method, 6)), "nothing is stuck") << method;
    EXPECT_EQ(headline(found(method, 5)), "3 threads are stuck") << method;
  }
}

// The turn was before the last two dumps, and it is chance that the same thread has the lock in both of them.
TEST(FindingsTest, ALockWithoutAnOwnerThatWentRoundInAnEarlierDumpGoesRound) {
  const auto found = [](bool turns) {
    return found_without_owner(3, [&](std::size_t dump, std::uint32_t id) {
      return id == 4 && (dump != 0 || !turns) ? kReply : enters();
    });
  };
  EXPECT_EQ(headline(found(false)), "4 threads are stuck");
  // The thread that has got it waits in native code, and the rest wait for it in turn.
  const Findings turns = found(true);
  for (const ThreadHistory& thread : turns.threads) {
    if (thread.os_id == 4) continue;
    EXPECT_EQ(thread.verdict, Verdict::waiting) << thread.os_id;
  }
}

TEST(FindingsTest, AThreadThatMayHoldALockWithoutAnOwnerAndSleepsHoldsNobodyUp) {
  const auto found = [](const std::string& caller) {
    return found_without_owner(2, [&](std::size_t, std::uint32_t id) {
      return id == 4 ? managed_thread({"ntdll!NtDelayExecution", "coreclr!", kSleep, "M Orders.Book.Put()", caller})
                     : enters();
    });
  };
  EXPECT_EQ(headline(found("M Orders.Web.Run()")), "nothing is stuck");
  EXPECT_EQ(headline(found("M Orders.Other.Run()")), "3 threads are stuck");
}

// Real case: threads that sleep in a critical section one after the other. Two dumps met the same thread in it.
TEST(FindingsTest, AThreadThatSleepsInNativeCodeUnderALockIsNotStuck) {
  const auto found = [](const std::string& method, bool lock_is_known) {
    return find(two_dumps([&](HangBuilder& builder, std::uint64_t) {
      builder.thread(1, managed_thread({"ntdll!NtDelayExecution", "kernelbase!Sleep", "orders_native!print",
                                        "P orders_native!print", "M Orders.Print()"})).cpu(1);
      builder.thread(2, managed_thread({kWait, "ntdll!RtlEnterCriticalSection", "orders_native!print",
                                        "P orders_native!print", method})).cpu(1);
      if (!lock_is_known) return;
      builder.lock({.kind = LockKind::critical_section, .address = 0xA, .owner = 1, .held = true, .waiters = {{2}}});
    }));
  };
  EXPECT_EQ(headline(found("M Orders.Print()", false)), "nothing is stuck");
  EXPECT_EQ(headline(found("M Orders.Copy()", true)), "nothing is stuck");
  EXPECT_EQ(headline(found("M Orders.Copy()", false)), "1 thread is stuck");
}

// A thread that holds a monitor waits for its turn, so the monitor is held only for a while.
TEST(FindingsTest, AMonitorOfAThreadThatWaitsInTurnIsContended) {
  const auto found = [](std::vector<std::string> later) {
    return find(two_dumps([&](HangBuilder& builder, std::uint64_t i) {
      builder.thread(1, enters()).cpu(1).thread(2, i == 0 ? enters() : later).cpu(1);
      builder.thread(3, managed_thread(kEnter)).cpu(1).thread(4, managed_thread(kEnter)).cpu(1).monitor(0xA, 1, {3, 4});
    }));
  };
  EXPECT_EQ(headline(found(enters())), "4 threads are stuck");
  EXPECT_EQ(kinds(found(kElsewhere)), std::vector<FindingKind>{FindingKind::contended});
}

// The ids of threads differ from run to run.
TEST(FindingsTest, DeadlocksAreInTheOrderOfTheirThreads) {
  const auto titles = [](std::uint32_t first, std::uint32_t second, std::uint32_t third) {
    HangBuilder builder;
    const auto pair = [&](std::uint32_t id, const std::string& name, bool waiter) {
      builder.thread(id, managed_thread(kEnter), name).thread(id + 1, managed_thread(kEnter), name);
      builder.monitor(0x1000 * id, id, {id + 1}).monitor(0x1000 * id + 0x10, id + 1, {id});
      if (!waiter) return;
      builder.thread(id + 2, managed_thread(kEnter), "behind");
      builder.snapshot().locks.back().waiters.push_back({id + 2});
    };
    pair(first, "printing", false);
    pair(second, "mailing", false);
    pair(third, "saving", true);
    std::vector<std::string> names;
    const Findings findings = find({builder.snapshot()});
    for (const Finding& finding : findings.findings) {
      names.push_back(findings.threads[finding.threads.front().thread].name);
    }
    return names;
  };
  const std::vector<std::string> expected = {"saving", "mailing", "printing"};
  EXPECT_EQ(titles(0x10, 0x20, 0x30), expected);
  EXPECT_EQ(titles(0x30, 0x20, 0x10), expected);
  EXPECT_EQ(titles(0x20, 0x10, 0x30), expected);
}

TEST(FindingsTest, AWaiterThatGaveUpProvesNothing) {
  std::vector<std::string> tries = kEnter;
  tries[2] = "M System.Threading.Monitor.TryEnter(System.Object, System.Int32)";
  const Findings findings = find(two_dumps([&](HangBuilder& builder, std::uint64_t i) {
    builder.thread(1, managed_thread(kNativeReply)).cpu(1);
    builder.thread(2, managed_thread(kEnter)).cpu(1);
    builder.thread(3, managed_thread(i == 0 ? tries : std::vector<std::string>{"orders_native!work", "M Orders.Run()"}))
        .cpu(1);
    builder.monitor(0xA, 1, i == 0 ? std::vector<std::uint32_t>{2, 3} : std::vector<std::uint32_t>{2});
  }));
  EXPECT_EQ(headline(findings), "2 threads are stuck");
}

// It is not known whether the holder continues, because its frames are missing in one of the dumps.
TEST(FindingsTest, WhoWaitsForAnUnclearHolderIsUnclear) {
  const auto dumps = [](const std::string& above) {
    return two_dumps([&](HangBuilder& builder, std::uint64_t i) {
      builder.thread(1, managed_thread({kWait, i == 0 ? above : "orders_native!wait_for_reply",
                                        "P orders_native!wait_for_reply", "M Orders.Run()"})).cpu(1);
      builder.thread(2, managed_thread(kEnter)).cpu(1).monitor(0xA, 1, {2});
    });
  };
  EXPECT_EQ(headline(find(dumps("orders_native!wait_for_reply"))), "2 threads are stuck");
  const Findings findings = find(dumps("gap"));
  EXPECT_EQ(headline(findings), "nothing is stuck");
  ASSERT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::chain});
  EXPECT_EQ(severity(findings), Severity::note);
  EXPECT_EQ(findings.findings[0].details[0],
            "It is not known whether the holder makes progress, nor whether any thread is stuck.");
  for (const ThreadHistory& thread : findings.threads) EXPECT_EQ(thread.verdict, Verdict::unclear);
}

TEST(FindingsTest, WhoWaitsForAnUnclearStaticConstructorIsUnclear) {
  std::vector<Snapshot> dumps = constructor_dumps({kJoinInConstructor});
  for (Thread& thread : dumps[0].threads) {
    if (thread.os_id == 10) thread.stack.frames[1].kind = FrameKind::gap;
  }
  const Findings findings = find(dumps);
  ASSERT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::class_constructor});
  EXPECT_EQ(severity(findings), Severity::note);
  EXPECT_EQ(headline(findings), "nothing is stuck");
  for (const ThreadHistory& thread : findings.threads) EXPECT_EQ(thread.verdict, Verdict::unclear) << thread.os_id;
}

// All workers wait for a lock whose owner changes, so each of them gets the lock sooner or later.
TEST(FindingsTest, APoolWhoseWorkersWaitForALockThatGoesRoundIsNotStarved) {
  const auto found = [](bool progresses) {
    return find(two_dumps([&](HangBuilder& builder, std::uint64_t i) {
      const std::vector<std::string> working = {"orders_native!work", "M Orders.Run()"};
      builder.thread(1, managed_thread(progresses && i == 0 ? working : kNativeReply)).cpu(1);
      for (std::uint32_t id = 2; id < 6; ++id) builder.thread(id, pool_thread(kEnter), ".NET TP Worker").cpu(1);
      builder.monitor(0xA, 1, {2, 3, 4, 5});
    }));
  };
  EXPECT_THAT(kinds(found(false)), testing::Contains(FindingKind::starved_pool));
  EXPECT_EQ(kinds(found(true)), std::vector<FindingKind>{FindingKind::contended});
}

// Thread 1 holds a monitor and waits at `frames` in all dumps, ten seconds apart, and uses so much processor time
// between two of them.
Findings found_with_holder(const std::vector<std::string>& frames, std::uint64_t cpu, std::size_t dumps = 2) {
  std::vector<Snapshot> made;
  for (std::size_t i = 0; i < dumps; ++i) {
    HangBuilder builder(kFirst + i * 10'000);
    builder.thread(1, managed_thread(frames)).cpu(i * cpu);
    builder.thread(2, managed_thread(kEnter)).cpu(1).monitor(0xA, 1, {2});
    made.push_back(builder.snapshot());
  }
  return find(made);
}

// Real case: a thread that held a monitor waited for an interpreter's lock, for 5 ms again and again. After 3 s the
// monitor's waiter was stuck, and after 10 s "nothing is stuck", since the holder had used 30 ms.
TEST(FindingsTest, AHolderThatPollsHoldsUpItsWaiters) {
  for (const std::size_t dumps : {2u, 3u}) {
    const Findings polls = found_with_holder(kNativeReply, 30, dumps);
    EXPECT_EQ(headline(polls), "2 threads are stuck");
    ASSERT_EQ(kinds(polls), std::vector<FindingKind>{FindingKind::chain});
    EXPECT_EQ(polls.findings[0].since, 0u);
    const std::string seconds = dumps == 2 ? "10" : "20";
    EXPECT_EQ(polls.findings[0].details[0], "This has lasted for at least " + seconds + " s.");
    EXPECT_EQ(headline(found_with_holder(kNativeReply, 300, dumps)), "nothing is stuck") << "it does some work";
  }
  const std::vector<std::string> sleeps = {"ntdll!NtDelayExecution", "coreclr!", kSleep, "M Orders.Run()"};
  EXPECT_EQ(headline(found_with_holder(sleeps, 30)), "nothing is stuck");
  EXPECT_EQ(headline(found_with_holder({"orders_native!work", "M Orders.Run()"}, 30)), "nothing is stuck");
}

TEST(FindingsTest, AThreadThatPollsAndHoldsNothingIsNotStuck) {
  EXPECT_EQ(headline(find(two_dumps([](HangBuilder& builder, std::uint64_t i) {
    builder.thread(1, managed_thread(kNativeReply)).cpu(30 * i);
  }))), "nothing is stuck");
}

// Real case: below a monitor, "the holder sleeps, it continues by itself".
TEST(FindingsTest, AHolderThatSpinsForALockHoldsUpItsWaiters) {
  const std::vector<std::string> spins = {"ntdll!NtDelayExecution", "coreclr!", kSleep,
                                          "M System.Threading.SpinWait.SpinOnceCore(System.Int32)",
                                          "M System.Threading.SpinLock.ContinueTryEnter(System.Int32)",
                                          "M Orders.Run()"};
  EXPECT_EQ(headline(found_with_holder(spins, 900)), "2 threads are stuck");
  std::vector<std::string> sleeps = spins;
  sleeps.erase(sleeps.begin() + 3, sleeps.begin() + 5);
  EXPECT_EQ(headline(found_with_holder(sleeps, 900)), "nothing is stuck");
}

// Thread 1 does work that thread 2 waits for, and thread 3 waits for a monitor of thread 2. `wait`: the method of .NET
// in which thread 2 waits. The result is what is found if thread 1 goes on, and if it does not.
std::pair<Findings, Findings> found_with_work(const std::vector<std::string>& below, const std::string& wait,
                                              const std::string& name = {}) {
  const auto found = [&](bool goes_on) {
    return find(two_dumps([&](HangBuilder& builder, std::uint64_t i) {
      std::vector<std::string> works = {kWait, "coreclr!", "M System.Threading.WaitHandle.WaitOne()",
                                        goes_on && i == 1 ? "M Orders.Pipe.Close()" : "M Orders.File.Close()"};
      works.insert(works.end(), below.begin(), below.end());
      works.insert(works.end(), {"coreclr!", "kernel32!BaseThreadInitThunk", "ntdll!RtlUserThreadStart"});
      builder.thread(1, works, name).cpu(1);
      builder.thread(2, managed_thread({kWait, "coreclr!", wait, "M Orders.Clean()"})).cpu(1);
      builder.thread(3, managed_thread(kEnter)).cpu(1).monitor(0xA, 2, {3});
    }));
  };
  return {found(true), found(false)};
}

// Real cases: a program that ended under a lock, and whose handler of ProcessExit stored its work meanwhile; a thread
// that waited for slow finalizers under a lock; a registration that was disposed of while its callback ran.
TEST(FindingsTest, AHolderThatWaitsForWorkOfAThreadThatGoesOnIsNotStuck) {
  const std::vector<std::string> finalizes = {"M Orders.File.Finalize()", "M System.GC.RunFinalizers()"};
  const std::string method = "M System.Threading.CancellationTokenSource.",
                    registration = "M System.Threading.CancellationTokenRegistration.";
  for (const auto& [goes_on, stands] :
       {found_with_work({kHandler}, "M System.Environment._Exit(System.Int32)", ".NET Finalizer"),
        found_with_work(finalizes, "M System.GC.WaitForPendingFinalizers()", ".NET Finalizer"),
        found_with_work({method + "ExecuteCallbackHandlers(System.Boolean)", "M Orders.Stop()"},
                        registration + "Dispose()")}) {
    EXPECT_EQ(headline(goes_on), "nothing is stuck");
    EXPECT_EQ(severity(stands), Severity::stuck);
    EXPECT_EQ(stands.threads[2].verdict, Verdict::stuck);
  }
}

// Dump files that were written under Wine have no processor times, so a thread that computes may have stood still.
TEST(FindingsTest, WhoWaitsForWorkOfAnUnclearThreadIsUnclear) {
  const auto found = [](const std::string& work, const std::string& wait) {
    return find(two_dumps([&](HangBuilder& builder, std::uint64_t) {
      builder.thread(
          1, {"orders_native!count", work, "coreclr!", "kernel32!BaseThreadInitThunk", "ntdll!RtlUserThreadStart"},
          ".NET Finalizer");
      builder.thread(2, managed_thread({kWait, "coreclr!", wait, "M Orders.Clean()"}));
      builder.thread(3, managed_thread(kEnter)).monitor(0xA, 2, {3});
    }));
  };
  for (const Findings& findings : {found("M Orders.File.Finalize()", "M System.GC.WaitForPendingFinalizers()"),
                                   found(kHandler, "M System.Environment._Exit(System.Int32)")}) {
    EXPECT_EQ(headline(findings), "nothing is stuck");
    EXPECT_EQ(findings.threads[1].verdict, Verdict::unclear);
    EXPECT_EQ(findings.threads[2].verdict, Verdict::unclear);
  }
}

// Real case: a loop of Thread.Sleep(0) under a lock, until the thread that waited for the lock would set a flag.
TEST(FindingsTest, AThreadThatOnlyGivesUpTheProcessorDoesNotSleep) {
  const std::vector<std::string> sleeps = {"ntdll!NtDelayExecution", "coreclr!", kSleep, "M Orders.Run()"};
  EXPECT_EQ(headline(found_with_holder(sleeps, 9'000)), "1 thread is stuck");
  EXPECT_EQ(headline(found_with_holder(sleeps, 4'000)), "nothing is stuck");
}

// Real case: "ran for 1.2 s of 769 ms". The processor time of a dump is read a little later than its stacks.
TEST(FindingsTest, AThreadRanForNoLongerThanTheTime) {
  const Findings findings = find(two_dumps([](HangBuilder& builder, std::uint64_t i) {
    builder.thread(1, managed_thread({"orders_native!crunch", "M Orders.Run()"})).cpu(11'000 * i);
  }));
  ASSERT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::spinning});
  EXPECT_EQ(findings.findings[0].threads[0].words, "ran for 10 s of 10 s and did not leave its function");
}

// Expects a headline such as "3 threads are stuck", alone or with the deadlocked threads. The number must be that of
// the threads that the list calls stuck.
void expect_headline_counts(const std::string& expected, const Findings& findings) {
  EXPECT_EQ(headline(findings), expected);
  const auto stuck = std::ranges::count(findings.threads, Verdict::stuck, &ThreadHistory::verdict);
  std::size_t said = 0, groups = 0;
  std::istringstream words(headline(findings));
  for (std::string word; words >> word;) {
    if (word[0] >= '0' && word[0] <= '9') said += std::stoul(word);
  }
  for (const StackGroup& group : findings.groups) groups += group.verdict == Verdict::stuck ? group.threads.size() : 0;
  EXPECT_EQ(said, stuck);
  EXPECT_EQ(groups, stuck);
  EXPECT_EQ(severity(findings) != Severity::note, stuck != 0);
}

TEST(FindingsTest, TheHeadlineCountsTheThreadsOfTheList) {
  expect_headline_counts("2 threads are deadlocked, and 3 more are stuck", find(test::deadlocked_program()));
  expect_headline_counts("2 threads are deadlocked, and 3 more are stuck", find({test::deadlocked_program().back()}));
  expect_headline_counts("16 threads are stuck", find(test::troubled_program()));
  // The holder waits for something outside the program, and the waiter has just arrived.
  expect_headline_counts("3 threads are stuck", find(two_dumps([](HangBuilder& builder, std::uint64_t i) {
    builder.thread(1, managed_thread({kWait, "ws2_32!recv", "M System.Net.Sockets.SocketPal.Receive(System.Int32)",
                                      "M Orders.Get()"})).cpu(1);
    builder.thread(2, managed_thread(kEnter)).cpu(1);
    builder.monitor(0xA, 1, {2});
    if (i == 1) builder.thread(3, managed_thread(kEnter)).cpu(1).snapshot().locks[0].waiters.push_back({3});
  })));
}

// A thread that a note shows must still appear among the findings.
TEST(FindingsTest, AStuckThreadThatANoteShowsIsFoundAllTheSame) {
  const Findings pool = find(two_dumps([](HangBuilder& builder, std::uint64_t) {
    for (std::uint32_t id = 1; id < 4; ++id) {
      builder
          .thread(id,
                  pool_thread({"ntdll!NtDelayExecution", "coreclr!", "M System.Threading.Thread.Sleep(System.Int32)",
                               "M Orders.Poll()"}),
                  ".NET TP Worker")
          .cpu(1);
    }
    builder.thread(4, pool_thread(kNativeReply), ".NET TP Worker").cpu(1);
  }));
  expect_headline_counts("1 thread is stuck", pool);
  EXPECT_EQ(kinds(pool), (std::vector<FindingKind>{FindingKind::stuck, FindingKind::starved_pool}));
}

TEST(FindingsTest, WhoHasJustComeToALockOfAStuckThreadIsStuck) {
  const Findings holder = find(two_dumps([](HangBuilder& builder, std::uint64_t i) {
    builder.thread(1, managed_thread(kNativeReply)).cpu(1);
    if (i == 0) return;
    builder.thread(2, managed_thread(kEnter)).cpu(1).thread(3, managed_thread(kEnter)).cpu(1).monitor(0xA, 1, {2, 3});
  }));
  expect_headline_counts("3 threads are stuck", holder);
  EXPECT_EQ(kinds(holder), std::vector<FindingKind>{FindingKind::chain});
}

// The frames show only that this is a critical section, because the loader's own names are missing.
TEST(FindingsTest, TheLoaderLockIsCalledSo) {
  const auto found = [](const std::string& type) {
    return find(two_dumps([&](HangBuilder& builder, std::uint64_t) {
      builder.thread(1, managed_thread(kNativeReply)).cpu(1);
      builder.thread(2, test::native_thread({kWait, "ntdll!RtlEnterCriticalSection", "ntdll!"})).cpu(1);
      builder.lock({.kind = LockKind::critical_section, .address = 0xA0, .type = type, .owner = 1, .held = true,
                    .waiters = {{2}}});
    }));
  };
  const Findings loader = found(std::string(kLoaderLock)), other = found("");
  EXPECT_EQ(loader.findings[0].threads[1].words, "waits for the loader lock 0xa0, held by thread 0x1");
  EXPECT_EQ(loader.threads[1].last().wait.rule, "loader-lock");
  EXPECT_TRUE(loader.threads[1].last().wait.words.starts_with("waits for the loader lock"));
  EXPECT_EQ(other.findings[0].threads[1].words, "waits for the critical section 0xa0, held by thread 0x1");
  EXPECT_EQ(other.threads[1].last().wait.rule, "critical-section");
}

TEST(FindingsTest, EachThreadIsInOneGroup) {
  const Findings findings = find(test::troubled_program());
  std::size_t threads = 0;
  for (const StackGroup& group : findings.groups) threads += group.threads.size();
  EXPECT_EQ(threads, findings.threads.size());
  EXPECT_EQ(findings.groups.front().verdict, Verdict::stuck);
  EXPECT_EQ(findings.groups.front().threads.size(), 8u);
}

TEST(FindingsTest, TheTreeCountsEachThreadOnce) {
  const std::vector<Snapshot> dumps = test::troubled_program();
  const Findings findings = find(dumps);
  std::size_t ends = 0, roots = 0;
  for (std::size_t i = 0; i < findings.tree.size(); ++i) {
    const TreeNode& node = findings.tree[i];
    ends += node.ends;
    if (node.parent == TreeNode::kNone) {
      roots += node.count;
    } else {
      EXPECT_LT(node.parent, i);
      EXPECT_LE(node.count, findings.tree[node.parent].count);
    }
  }
  EXPECT_EQ(ends, dumps.back().threads.size());
  EXPECT_EQ(roots, dumps.back().threads.size());
}

TEST(FindingsTest, WhatIsNotKnownIsSaid) {
  std::vector<Snapshot> dumps = test::troubled_program();
  for (Snapshot& dump : dumps) {
    dump.locks.clear();
    dump.locks_missing = "mixwalk did not look for locks (--no-locks)";
    for (Thread& thread : dump.threads) thread.cpu.reset();
  }
  const Findings findings = find(dumps);
  ASSERT_EQ(findings.gaps.size(), 3u);
  EXPECT_EQ(findings.gaps[0], "Not all locks are known: mixwalk did not look for locks (--no-locks)");
  EXPECT_EQ(findings.gaps[1], "3 threads wait for a lock whose holder the dump does not name");
}

TEST(FindingsTest, DumpsWithoutManagedFramesAreSaid) {
  std::vector<Snapshot> dumps = test::troubled_program();
  ASSERT_GE(dumps.size(), 2u);
  dumps[0].unasked = "the DAC did not answer within 30 s";
  EXPECT_EQ(find(dumps).gaps.front(), "Dump 1 has no managed frames, or not all: the DAC did not answer within 30 s");
  dumps = two_dumps([](HangBuilder& builder, std::uint64_t i) {
    builder.thread(1, managed_thread({i == 0 ? "orders_native!a" : "orders_native!b", "M Orders.Run()"}));
  });
  EXPECT_EQ(headline(find(dumps)), "nothing is stuck");
  dumps[0].unasked = "the DAC did not answer within 30 s";
  EXPECT_EQ(headline(find(dumps)), "nothing is known to be stuck");
}

TEST(FindingsTest, DumpsThatLackManagedFramesForTheSameReasonShareANote) {
  std::vector<Snapshot> dumps = test::troubled_program();
  dumps.resize(2);
  for (const char* const why : {"the DAC crashed", "the DAC is missing", "the DAC crashed"}) {
    dumps.push_back(dumps.front());
    dumps.back().unix_time_ms += dumps.size() * 10'000;
    dumps.back().unasked = why;
  }
  const Findings findings = find(dumps);
  ASSERT_GE(findings.gaps.size(), 2u);
  EXPECT_EQ(findings.gaps[0], "Dumps 3 and 5 have no managed frames, or not all: the DAC crashed");
  EXPECT_EQ(findings.gaps[1], "Dump 4 has no managed frames, or not all: the DAC is missing");
}

// Dump 1 shows other instructions of the thread that holds the lock, but not that they belong to the same method.
TEST(FindingsTest, AThreadThatRunsInADumpWithoutManagedFramesMakesItsWaiterUnclear) {
  std::vector<Snapshot> dumps = two_dumps([](HangBuilder& builder, std::uint64_t i) {
    builder.thread(1, managed_thread({"M Orders.Spin()"})).cpu(9'000 * i);
    builder.last().stack.frames.front().address += 8 * i;
    builder.thread(
        2, managed_thread({kWait, "coreclr!", "M System.Threading.Monitor.Enter(System.Object)", "M Orders.Get()"}));
    builder.cpu(1);
    builder.snapshot().locks = {
        {.kind = LockKind::monitor, .address = 0x1000, .type = "Orders.Book", .owner = 1, .held = true}};
    builder.snapshot().locks[0].waiters = {{.os_id = 2}};
  });
  EXPECT_EQ(find(dumps).threads[1].verdict, Verdict::stuck);
  dumps[0].unasked = "the DAC crashed";
  Frame& running = dumps[0].threads[0].stack.frames.front();
  running = {.address_kind = running.address_kind, .address = running.address};
  const Findings findings = find(dumps);
  EXPECT_EQ(findings.threads[0].verdict, Verdict::unclear);
  EXPECT_EQ(findings.threads[1].verdict, Verdict::unclear);
}

TEST(FindingsTest, ALockOfDotNetWhoseOwnerIsUnknownIsSaid) {
  const Findings findings = find(two_dumps([](HangBuilder& builder, std::uint64_t) {
    builder.thread(1, managed_thread({kWait, "coreclr!", "M System.Threading.Lock.Enter()", "M Orders.Get()"})).cpu(1);
  }));
  EXPECT_EQ(findings.gaps, std::vector<std::string>{
                               "1 thread waits for a lock whose holder the dump does not name"});
}

// Real case: two timers had woken a worker of an idle service at once.
TEST(FindingsTest, AThreadThatHasJustComeToALockIsNoGap) {
  const Findings findings = find(two_dumps([](HangBuilder& builder, std::uint64_t i) {
    builder.thread(1, i == 0 ? pool_thread({"M Orders.Tick()"})
                             : pool_thread({kWait, "ntdll!RtlEnterCriticalSection", "coreclr!", "M Orders.Tick()"}));
    builder.cpu(100 * i);
  }));
  EXPECT_EQ(findings.threads[0].last().wait.rule, "critical-section");
  EXPECT_EQ(findings.gaps, std::vector<std::string>{});
}

TEST(FindingsTest, AThreadWithoutAStackIsSaid) {
  HangBuilder builder;
  builder.thread(1, {}).last().skipped = "no access";
  EXPECT_EQ(find({builder.snapshot()}).gaps, std::vector<std::string>{"1 thread of the last dump had no stack"});
}

TEST(FindingsTest, DumpsOfTwoProcessesAreLookedAtOneByOne) {
  std::vector<Snapshot> dumps = test::deadlocked_program();
  for (Snapshot dump : test::healthy_program()) {
    dump.process.id = 99;
    dumps.push_back(dump);
  }
  const Findings findings = find(dumps);
  EXPECT_EQ(findings.dumps.back().process, 1u);
  EXPECT_EQ(kinds(findings), (std::vector<FindingKind>{FindingKind::deadlock, FindingKind::contended}));
}

// The time must be linear: if the circle were searched for each of its threads, this would take minutes.
TEST(FindingsTest, ACircleOfTwoHundredThousandThreads) {
  constexpr std::uint32_t kThreads = 200'000;
  HangBuilder builder;
  for (std::uint32_t i = 1; i <= kThreads; ++i) {
    builder.snapshot().threads.emplace_back().os_id = i;
    builder.monitor(i, i, {i == 1 ? kThreads : i - 1});
  }
  const Findings findings = find({builder.snapshot()});
  ASSERT_EQ(findings.findings.size(), 1u);
  EXPECT_EQ(findings.findings[0].threads.size(), kThreads);
  EXPECT_TRUE(findings.findings[0].behind.empty());
}

TEST(FindingsTest, NoDumpsNoFindings) {
  EXPECT_TRUE(find({}).findings.empty());
  EXPECT_TRUE(find({Snapshot()}).findings.empty());
  EXPECT_EQ(headline(find({Snapshot(), Snapshot()})), "there is no thread to look at");
}

TEST(FindingsTest, ACrashComesBeforeEverythingElse) {
  const Findings findings = find({test::crashed_program()});
  EXPECT_EQ(severity(findings), Severity::crash);
  EXPECT_EQ(headline(findings),
            "thread 0x204 \"parser\" crashed in ntdll.dll!memset, called from orders_native.dll!parse: "
            "access violation (0xc0000005): it wrote to 0x0, a null pointer");
  ASSERT_EQ(kinds(findings), std::vector<FindingKind>{FindingKind::crash});
  const Finding& crash = findings.findings[0];
  EXPECT_THAT(crash.details,
              ::testing::ElementsAre("Orders.Failed: no stock", "inner exception: System.IO.IOException"));
  ASSERT_EQ(ids(findings, crash), std::vector<std::uint32_t>{0x204});
  EXPECT_EQ(crash.threads[0].words, "crashed in ntdll.dll!memset, called from orders_native.dll!parse");
  EXPECT_EQ(crash.threads[0].frame, 1u) << "the first frame of the program";
  EXPECT_EQ(findings.threads[crash.threads[0].thread].verdict, Verdict::once);
}

TEST(FindingsTest, ACrashBesideADeadlockComesFirst) {
  std::vector<Snapshot> dumps = test::deadlocked_program();
  dumps.back().crash = Crash{.thread = 0x9999, .code = 0xC00000FD, .objects = {}};
  const Findings findings = find(dumps);
  EXPECT_EQ(headline(findings), "a thread crashed: stack overflow (0xc00000fd)");
  EXPECT_EQ(kinds(findings), (std::vector{FindingKind::crash, FindingKind::deadlock}));
}

}  // namespace
}  // namespace mixwalk
