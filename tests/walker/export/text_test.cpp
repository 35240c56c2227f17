#include "walker/export/text.h"

#include <gtest/gtest.h>

#include "tests/builders/hang_builder.h"
#include "tests/builders/hang_samples.h"
#include "tests/builders/snapshot_builder.h"
#include "tests/support/golden.h"
#include "walker/suspended/refusal.h"

namespace mixwalk {
namespace {

std::string text_of(const Snapshot& snapshot, const ShowOptions& options = {}) {
  StringSink sink;
  EXPECT_TRUE(write_text(snapshot, options, sink));
  return sink.text;
}

TEST(Text, OneOfEverything) { expect_golden("dump.txt", text_of(representative_snapshot())); }

TEST(Text, InColour) {
  expect_golden("dump-colour.txt", text_of(representative_snapshot(), {.colour = true}));
}

Snapshot asynchronous_snapshot() {
  Snapshot snapshot = representative_snapshot();
  add_async_work(snapshot);
  return snapshot;
}

TEST(Text, AsynchronousWork) { expect_golden("dump-async.txt", text_of(asynchronous_snapshot())); }

TEST(Text, WhatAThreadWaitsForByItsFrames) {
  test::HangBuilder builder;
  builder.thread(0x10, test::pool_thread({"ntdll!NtRemoveIoCompletion",
                                          "M System.Threading.LowLevelLifoSemaphore.WaitForSignal(System.Int32)"}));
  builder.thread(0x14, test::managed_thread({"ntdll!NtDelayExecution", "M System.Threading.Thread.Sleep(System.Int32)",
                                             "M Orders.Work()"}));
  builder.thread(0x18, test::managed_thread({"M Orders.Work()"}));
  builder.last().stack.frames[0].address_kind = AddressKind::instruction_pointer;
  const std::string text = text_of(builder.snapshot());
  EXPECT_NE(text.find("\n  idle: a worker of the thread pool waits for work\n  #0"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  sleeps (Thread.Sleep)\n  #0"), std::string::npos) << text;
  EXPECT_NE(text.find("in 1 run\n  #0   M  Orders.Work()\n"), std::string::npos) << text;
}

TEST(Text, OnlySomeKindsOfChainsAreListed) {
  Snapshot snapshot = representative_snapshot();
  for (std::uint32_t i = 0; i < kMaxTextTaskGroups + 3; ++i) {
    AsyncTask task;
    task.method = "C.M" + std::to_string(i) + "()";
    snapshot.tasks.push_back(task);
  }
  snapshot.tasks.push_back(snapshot.tasks.back());  // the largest group comes first
  const std::string text = text_of(snapshot);
  EXPECT_NE(text.find("\n54 chains of tasks that no thread waits for\n  2 chains\n       A  await C.M52() "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n  … 3 more chains of 3 other kinds\n"), std::string::npos) << text;
}

TEST(Text, ALookFromOutsideSaysSoAndWhy) {
  Snapshot snapshot = representative_snapshot();
  EXPECT_EQ(text_of(snapshot).find("from outside"), std::string::npos);
  snapshot.capture = CaptureMethod::outside;
  EXPECT_NE(text_of(snapshot).find("\nfrom outside: nothing was loaded into the process\n"), std::string::npos);
  snapshot.modules.push_back({.base = 0x2'1900'0000, .size = 0x1000, .path = "C:\\tools\\MixWalk.dll"});
  EXPECT_NE(
      text_of(snapshot).find("\nfrom outside: mixwalk.dll is in the process from an earlier look, and did nothing\n"),
      std::string::npos);
  snapshot.modules.pop_back();
  snapshot.capture_reason = "another profiler\nis there";
  snapshot.unasked = "mscordaccore.dll of 10.0.12 is needed";
  const std::string text = text_of(snapshot);
  EXPECT_NE(text.find("into the process (another profiler\\x0ais there)\n"
                      "managed frames are missing: mscordaccore.dll of 10.0.12 is needed\n"),
            std::string::npos)
      << text;
}

TEST(Text, OnlyALibraryInPlaceOfContractsIsNamed) {
  Snapshot snapshot = representative_snapshot();
  const auto says = [&] { return text_of(snapshot).find("debugging library answers") != std::string::npos; };
  snapshot.answers = {RuntimeSource::contracts, {}};
  EXPECT_EQ(text_of(snapshot), text_of(representative_snapshot()));
  snapshot.answers = {RuntimeSource::debugging_library, "the runtime's contract Loader 2 is newer than this mixwalk"};
  EXPECT_NE(text_of(snapshot).find("\nthe runtime's debugging library answers: the runtime's contract Loader 2 is "
                                   "newer than this mixwalk\n"),
            std::string::npos);
  snapshot.runtime.major = 8;  // which has no contracts
  EXPECT_FALSE(says());
}

TEST(Text, WhatAThreadHoldsAndWaitsFor) {
  Snapshot snapshot = representative_snapshot();
  const std::string text = text_of(snapshot);
  const auto says = [&](const char* line) { EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text; };
  says("  waits to be pulsed: System.Object 0x120007080, held by no thread\n"
       "  holds System.Object 0x120003040 (2 wait)\n  #0");
  says("  waits for System.Object 0x120003040, held by 0x1a4 \"Orders worker\"\n"
       "  holds Orders.Queue<\\x1b[31m> 0x120005060, entered 2 times (1 to be pulsed)\n"
       "  holds critical section 0x218010000\n");
  says("\nlocks may be missing: the time for it was over\n");
  snapshot.locks = {{.kind = LockKind::srw_lock, .address = 0x40, .held = true, .waiters = {{0x1a4, false}}}};
  EXPECT_NE(text_of(snapshot).find("  waits for slim reader/writer lock 0x40, held by an unknown thread\n"),
            std::string::npos);
  snapshot.locks.assign(kMaxTextLocks + 3, {.address = 0x40, .owner = 0x1a4, .held = true});
  const std::string many = text_of(snapshot);
  EXPECT_NE(many.find("  holds an object 0x40\n  holds 3 more locks\n"), std::string::npos) << many;
}

TEST(Text, AThreadThatWaitsToBePulsedAtAnObjectOfATaskWaitsForTheTask) {
  Snapshot snapshot = representative_snapshot();
  std::vector<StackFrame>& frames = snapshot.threads[0].stack.frames;
  frames.erase(frames.begin() + 1, frames.begin() + 3);  // the P/Invoke
  frames[3].name = "Orders.Form.OnClick()";
  frames[1] = frames[2] = frames[3];
  frames[1].name = "System.Threading.Monitor.Wait(System.Object)";
  frames[2].name = "System.Threading.Tasks.Task.InternalWait(System.Int32)";
  const std::string text = text_of(snapshot);
  EXPECT_NE(text.find("  waits for a task (sync over async)\n  holds System.Object 0x120003040"), std::string::npos)
      << text;
}

// Both are objects of .NET, and their kind is the same.
TEST(Text, ALockOfDotNetIsCalledByItsType) {
  Snapshot snapshot;
  snapshot.threads = {{.os_id = 1}};
  for (const std::string type : {"System.Threading.Lock", "System.Threading.ReaderWriterLockSlim"}) {
    snapshot.locks = {{.kind = LockKind::threading_lock, .address = 0x40, .type = type, .held = true,
                       .waiters = {{1}}}};
    EXPECT_NE(text_of(snapshot).find("waits for " + type + " 0x40"), std::string::npos) << text_of(snapshot);
  }
}

TEST(Text, ALockThatSeveralHold) {
  Snapshot snapshot;
  snapshot.threads = {{.os_id = 1}, {.os_id = 2, .name = "reader"}};
  snapshot.tasks = {{.method = "C.RunAsync()"}};
  snapshot.locks = {{.kind = LockKind::semaphore, .address = 0x40, .type = "System.Threading.SemaphoreSlim",
                     .waiters = {{1}}, .sharers = {2}, .task_holders = {0}}};
  const std::string text = text_of(snapshot);
  EXPECT_NE(text.find("  waits for System.Threading.SemaphoreSlim 0x40, held by thread 0x2 \"reader\", C.RunAsync()\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  holds System.Threading.SemaphoreSlim 0x40 (1 waits)\n"), std::string::npos) << text;
}

TEST(Text, WhatAWaitChainSays) {
  Snapshot snapshot;
  snapshot.threads = {{.os_id = 1}, {.os_id = 2, .name = "apartment"}, {.os_id = 3}};
  snapshot.locks = {
      {.kind = LockKind::mutex, .type = "orders, of thread 32 of process 7", .held = true, .waiters = {{2}}},
      {.kind = LockKind::com_call, .owner = 2, .held = true, .waiters = {{1}}},
      {.kind = LockKind::thread_end, .owner = 1, .held = true, .waiters = {{3}}}};
  const std::string text = text_of(snapshot);
  const auto says = [&](const std::string& lines) { EXPECT_NE(text.find(lines), std::string::npos) << text; };
  says("  waits for the answer to a COM call, to be given by 0x2 \"apartment\"\n  has not ended (1 waits)\n");
  says("  waits for mutex \"orders, of thread 32 of process 7\"\n"
       "  has not given the answer to a COM call (1 waits)\n");
  says("  waits for the end of a thread, which is 0x1\n");
}

TEST(Text, WhoseCallbackAThreadWaitsFor) {
  Snapshot snapshot;
  snapshot.threads = {{.os_id = 1}, {.os_id = 2}};
  snapshot.locks = {{.kind = LockKind::callback, .type = "System.Threading.CancellationToken", .owner = 2, .held = true,
                     .waiters = {{1}}}};
  const std::string text = text_of(snapshot);
  const auto says = [&](const std::string& lines) { EXPECT_NE(text.find(lines), std::string::npos) << text; };
  says("  waits for the end of a callback (System.Threading.CancellationToken), run by 0x2\n");
  says("  has not reached the end of a callback (System.Threading.CancellationToken) (1 waits)\n");
}

TEST(Text, ManagedOnlyAndDepth) {
  const std::string text =
      text_of(representative_snapshot(), {.filter = {.managed_only = true, .depth = 1}});
  EXPECT_NE(text.find("only managed frames are shown"), std::string::npos);
  EXPECT_NE(text.find("Orders.Client.Fetch"), std::string::npos);
  EXPECT_EQ(text.find("Orders.Program.Main"), std::string::npos);
  EXPECT_NE(text.find("… 1 more frame\n"), std::string::npos) << text;
  EXPECT_EQ(text.find(" N  "), std::string::npos);
}

TEST(Text, AnInlinedCallIsNoFrameAndSaysSo) {
  Snapshot snapshot = representative_snapshot();
  Stack& stack = snapshot.threads[0].stack;
  const StackFrame outer = stack.frames[4];  // submit_order
  StackFrame inlined = outer;
  inlined.inline_depth = 1;
  inlined.name = "round_up";
  inlined.displacement = 0;
  inlined.file = "/src/orders/price.h";
  inlined.line = 0;
  stack.frames.insert(stack.frames.begin() + 4, inlined);
  const std::string text = text_of(snapshot);
  EXPECT_NE(text.find("whole: 7 frames, 2 managed, 4 native in 3 runs, 1 inlined, 1 stub\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  #4   N  [inlined] orders.dll!round_up  (price.h)\n"
                      "  #5   N  orders.dll!submit_order+0x6  (submit.cpp:118)\n"),
            std::string::npos)
      << text;
  // With four frames the inlined call is left out; with five, it and the function that contains it are shown.
  EXPECT_EQ(text_of(snapshot, {.filter = {.depth = 4}}).find("round_up"), std::string::npos);
  const std::string five = text_of(snapshot, {.filter = {.depth = 5}});
  EXPECT_NE(five.find("#5   N  orders.dll!submit_order"), std::string::npos) << five;
  EXPECT_NE(five.find("… 2 more frames\n"), std::string::npos) << five;
}

TEST(Text, AGuessedFrameSaysSoAndTheStackDoesNotCountAsWhole) {
  Snapshot snapshot = representative_snapshot();
  const std::string before = text_of(snapshot);
  EXPECT_EQ(before.find("guessed"), std::string::npos);
  snapshot.threads[0].stack.frames[4].trust = Trust::frame_pointer;
  const std::string text = text_of(snapshot);
  EXPECT_NE(text.find("managed  guessed: 7 frames, 2 managed, 4 native in 3 runs, 1 stub, 1 guessed\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  #4   N  orders.dll!submit_order+0x6  (submit.cpp:118)  (guessed: frame-pointer)\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("with a whole stack, 1 with guessed frames"), std::string::npos) << text;
}

TEST(Text, AFunctionThatTheLinkerFoldedIsOneOfSeveral) {
  Snapshot snapshot = representative_snapshot();
  snapshot.threads[0].stack.frames[4].folded = 3;
  EXPECT_NE(text_of(snapshot).find("submit_order+0x6 (one of 3)  (submit.cpp:118)\n"), std::string::npos);
}

TEST(Text, AThreadThatTheRuntimeWasNotAskedAboutSaysWhy) {
  Snapshot snapshot = representative_snapshot();
  EXPECT_EQ(text_of(snapshot).find("walked from the copy:"), std::string::npos);
  snapshot.threads[0].stack.refusal = kThreadDetached;
  EXPECT_NE(text_of(snapshot).find("; walked from the copy: the runtime has detached the thread\n"),
            std::string::npos);
  snapshot.threads[0].stack.refusal = kThreadSuspended;
  EXPECT_NE(text_of(snapshot).find("; walked from the copy: the thread was suspended already\n"),
            std::string::npos);
}

TEST(Text, OfHowManyMomentsADumpIs) {
  Snapshot snapshot = representative_snapshot();
  EXPECT_EQ(text_of(snapshot).find("moment"), std::string::npos);
  snapshot.moments = {{4'240'000}};
  for (Thread& thread : snapshot.threads) thread.moment = thread.skipped.empty();
  const std::string one = text_of(snapshot);
  EXPECT_NE(one.find("\none moment of 3 threads, which stood still for 4.2 ms\n"), std::string::npos)
      << one;
  EXPECT_EQ(one.find("; moment 1"), std::string::npos);

  snapshot.moments.push_back({60'000});
  std::vector<Thread*> walked;
  for (Thread& thread : snapshot.threads) {
    if (thread.skipped.empty()) walked.push_back(&thread);
  }
  walked.at(1)->moment = 2;
  walked.at(2)->moment = 0;
  const std::string two = text_of(snapshot);
  EXPECT_NE(two.find("\n2 moments: #1 of 1 thread, which stood still for 4.2 ms; #2 of 1 thread, which "
                     "stood still for 0.1 ms; 1 thread frozen alone\n"),
            std::string::npos)
      << two;
  EXPECT_NE(two.find("; moment 2"), std::string::npos);
  EXPECT_NE(two.find("; frozen alone"), std::string::npos);
}

TEST(Text, AMomentWithoutAStackIsNotOneOfNoThreads) {
  Snapshot snapshot = representative_snapshot();
  snapshot.moments = {{4'240'000}};
  for (Thread& thread : snapshot.threads) {
    thread.moment = 1;
    thread.skipped = "the system refused its registers (error 5)";
  }
  const std::string text = text_of(snapshot);
  EXPECT_NE(text.find("\none moment of which no thread has a stack; threads stood still for 4.2 ms\n"),
            std::string::npos)
      << text;
}

TEST(Text, WhatWasLeftOutIsSaidFirst) {
  const std::string text =
      text_of(representative_snapshot(), {.filter = {.managed_only = true, .depth = 1}});
  const std::string header = text.substr(0, text.find("\nThread"));
  EXPECT_NE(header.find("only managed frames are shown\n"), std::string::npos) << header;
  EXPECT_NE(header.find("no more than 1 frame of each stack\n"), std::string::npos) << header;
}

TEST(Text, NothingThatMovesATerminalReachesIt) {
  const std::string text = text_of(representative_snapshot());
  for (const char* raw : {"\x1b", "\x7f", "\xff", "\u009B", "\u202E", "\r"}) {
    EXPECT_EQ(text.find(raw), std::string::npos) << raw;
  }
  EXPECT_NE(text.find("\\x1b[31mName\\x0a\\x7f\\xff("), std::string::npos) << text;
}

TEST(Text, AThreadNameCannotEndItsQuotes) {
  EXPECT_NE(text_of(representative_snapshot()).find(R"("say \"hi\" )"), std::string::npos);
}

TEST(Text, EveryWordOfTheTargetIsEscaped) {
  Snapshot snapshot = representative_snapshot();
  snapshot.process.path = snapshot.runtime.name = snapshot.modules[0].path = "\x1b[2J";
  snapshot.threads[0].name = snapshot.threads[2].skipped = "\x1b[2J";
  for (Frame& frame : snapshot.threads[0].stack.frames) frame.name = "\x1b[2J";
  EXPECT_EQ(text_of(snapshot).find('\x1b'), std::string::npos);
}

TEST(Text, ANameWithoutEndIsCutBetweenCharacters) {
  Snapshot snapshot = representative_snapshot();
  std::string name;
  for (int i = 0; i < 5000; ++i) name += "ü";
  snapshot.threads[0].stack.frames[3].name = "x" + name;
  const std::string text = text_of(snapshot);
  EXPECT_LT(text.size(), 10'000u);
  EXPECT_NE(text.find("ü…"), std::string::npos);
}

TEST(Text, AManagedFrameWithoutNameIsItsAddress) {
  Snapshot snapshot = representative_snapshot();
  snapshot.threads[0].stack.frames[3].name.clear();
  snapshot.threads[0].stack.frames[3].file.clear();
  EXPECT_NE(text_of(snapshot).find("  #3   M  [managed code at 0x68001000]\n"), std::string::npos);
}

TEST(Text, OnlyFramesWhoseCallIsWrongAreMarked) {
  const std::string text = text_of(checked_snapshot());
  EXPECT_NE(text.find("orders.dll!0x102c (after no call)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("RtlUserThreadStart (after a call of another function)\n"), std::string::npos);
  EXPECT_NE(text.find("RtlUserThreadStart+0x88\n"), std::string::npos);
}

TEST(Text, CallsStandUnderTheFramesThatTheyWereMadeIn) {
  ShowOptions options;
  options.call_text = [](const Frame& frame) {
    return frame.name == "submit_order" ? "call rax \x1b[2J" : std::string();
  };
  const std::string text = text_of(representative_snapshot(), options);
  EXPECT_NE(text.find("submit.cpp:118)\n          call rax \\x1b[2J\n"), std::string::npos) << text;
  options.call_text = [](const Frame&) { return "call"; };
  const std::string all = text_of(representative_snapshot(), options);
  // Counts the return addresses of native code in images, without leaf frames and code outside every image.
  std::size_t calls = 0;
  for (std::size_t at = 0; (at = all.find("  call\n", at)) != std::string::npos; ++at) ++calls;
  EXPECT_EQ(calls, 4u);
}

TEST(Text, AStackWithoutFramesIsNotWhole) {
  Snapshot snapshot = representative_snapshot();
  snapshot.threads[0].stack = {};
  EXPECT_NE(text_of(snapshot).find("partial: 0 frames, 0 managed, 0 native in 0 runs; nothing was "
                                   "found\n"),
            std::string::npos);
}

// Real case: for a stack deeper than its copy, 3,832 runs were open for the same reason, which made one line of 203,185
// characters.
TEST(Text, AReasonIsSaidOnceAndCounted) {
  Snapshot snapshot = representative_snapshot();
  Stack stack;
  stack.frames.push_back(Frame{});
  const auto add_open_run = [&](OpenReason why) {
    stack.frames.push_back(Frame{.kind = FrameKind::managed});
    stack.frames.push_back(Frame{.kind = FrameKind::gap, .why = why});
  };
  for (int i = 0; i < 3832; ++i) add_open_run(OpenReason::stack_cut);
  add_open_run(OpenReason::no_unwind);
  add_open_run(OpenReason::stack_cut);
  snapshot.threads = {Thread{.os_id = 7, .stack = stack}};
  EXPECT_NE(text_of(snapshot).find("; middle run open: the code has no unwind data"
                                   "; 3832 middle runs open: the stack was larger than the copy, or a page "
                                   "of it may not be read; root run open: the stack was larger than "
                                   "the copy, or a page of it may not be read\n"),
            std::string::npos)
      << text_of(snapshot).substr(0, 2000);
}

TEST(Text, ATimePastTheCalendarIsItsLastDay) {
  Snapshot snapshot = representative_snapshot();
  snapshot.unix_time_ms = UINT64_MAX;
  EXPECT_NE(text_of(snapshot).find("  9999-12-31 23:59:59 UTC"), std::string::npos);
}

TEST(Text, ASinkThatIsFullEndsIt) {
  class Full final : public ByteSink {
   public:
    bool write(std::string_view) override { return ++writes < 2; }
    int writes = 0;
  } sink;
  EXPECT_FALSE(write_text(representative_snapshot(), {}, sink));
  EXPECT_EQ(sink.writes, 2);
}

TEST(Text, ACrashComesFirstAndItsThreadBeforeTheOthers) {
  Snapshot snapshot = test::crashed_program();
  const std::string text = text_of(snapshot);
  constexpr std::string_view kFirst =
      "crash: access violation (0xc0000005): it wrote to 0x0, a null pointer\n"
      "  Orders.Failed: no stock\n"
      "  thread 0x204 \"parser\" at ntdll.dll!memset\n"
      "  called from orders_native.dll!parse\n"
      "  inner exception: System.IO.IOException\n"
      "\n"
      "process 4711  ";
  EXPECT_EQ(text.substr(0, kFirst.size()), kFirst) << text;
  EXPECT_LT(text.find("\nThread 0x204 \"parser\"  crashed, managed  "), text.find("\nThread 0x200 ")) << text;
  EXPECT_EQ(text.find("Thread 0x204"), text.rfind("Thread 0x204"));
  snapshot.crash->text = "the books of day 7\ndo not balance";
  EXPECT_NE(text_of(snapshot).find("pointer\n  message: the books of day 7\\x0ado not balance\n  thread 0x204 "),
            std::string::npos) << text_of(snapshot);
  snapshot.crash->text.clear();
  // The thread was not asked for.
  snapshot.threads.clear();
  const std::string without = text_of(snapshot);
  EXPECT_NE(without.find("  thread 0x204 at ntdll.dll!0x"), std::string::npos) << without;
  snapshot.crash->address = 5;
  EXPECT_NE(text_of(snapshot).find("  thread 0x204 at [code at 0x5]\n"), std::string::npos);
}

TEST(Text, TheExceptionsThatAThreadHandles) {
  Snapshot snapshot = representative_snapshot();
  const HandledException inner{{{.type = "Orders.Failed", .message = "no\nstock", .trace = {}},
                                {.type = "System.IO.IOException", .trace = {}}}};
  snapshot.threads[0].handles = {inner, {{{.type = "System.TimeoutException", .message = "10 s", .trace = {}}}}};
  const std::string text = text_of(snapshot);
  EXPECT_NE(text.find("\n  handles Orders.Failed: \"no\\x0astock\"\n  inner exception: System.IO.IOException\n"
                      "  handles System.TimeoutException: \"10 s\"\n  #0 "),
            std::string::npos) << text;
  snapshot.threads[0].handles.assign(16, inner);
  const std::string cut = text_of(snapshot);
  EXPECT_NE(cut.find("\n  inner exception: System.IO.IOException\n  … 12 more exceptions\n  #0 "), std::string::npos)
      << cut;
}

TEST(Text, ARecursionWithoutAnEndIsFolded) {
  std::vector<std::string> frames = {"ntdll!memset"};
  for (int i = 0; i < 1000; ++i) {
    for (const char* const frame : {"M Orders.A()", "M Orders.B()", "M Orders.C()"}) frames.emplace_back(frame);
  }
  frames.emplace_back("M Orders.Main()");
  test::HangBuilder builder;
  builder.thread(1, frames);
  const std::string text = text_of(builder.snapshot());
  EXPECT_NE(text.find("  #1   M  Orders.A()\n  #2   M  Orders.B()\n  #3   M  Orders.C()\n"
                      "  … the 3 frames above repeat 999 more times\n  #3001 M  Orders.Main()\n"),
            std::string::npos)
      << text.substr(0, 2000);
  const std::string all = text_of(builder.snapshot(), {.filter = {.all = true}});
  EXPECT_EQ(all.find("repeat"), std::string::npos);
}

TEST(Text, AShortRecursionIsShown) {
  test::HangBuilder builder;
  builder.thread(1, {"M Orders.A()", "M Orders.A()", "M Orders.A()", "M Orders.A()", "M Orders.A()", "M Orders.B()"});
  EXPECT_EQ(text_of(builder.snapshot()).find("repeat"), std::string::npos);
}

}  // namespace
}  // namespace mixwalk
