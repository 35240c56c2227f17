#include "walker/shown/runtime_frames.h"

#include <gtest/gtest.h>

#include "tests/support/golden.h"
#include "walker/export/text.h"

namespace mixwalk {
namespace {

enum Image { kCoreclr, kHostfxr, kHostpolicy, kProgram, kNtdll, kKernel32, kOrders };

// A stack is given as its frames, leaf first, and shown as in the text format.
class RuntimeFramesTest : public testing::Test {
 protected:
  RuntimeFramesTest() {
    for (const char* const name : {"coreclr.dll", "hostfxr.dll", "hostpolicy.dll", "orders.exe", "ntdll.dll",
                                   "kernel32.dll", "orders.dll"}) {
      const auto base = (snapshot_.modules.size() + 1) << 32;
      snapshot_.modules.push_back({base, 0x10000, 1, "C:\\" + std::string(name)});
    }
    snapshot_.process.path = "C:\\Orders.exe";
    snapshot_.threads.emplace_back();
  }

  static Frame native(Image image, std::string name, SymbolKind symbol = SymbolKind::function_table) {
    return {.address_kind = AddressKind::return_address,
            .address = ((image + 1ull) << 32) + 0x1234,
            .module = image,
            .name = std::move(name),
            .symbol = symbol};
  }
  static Frame sub(Image image = kCoreclr) { return native(image, "sub_1200"); }
  static Frame managed(std::string name) { return {.kind = FrameKind::managed, .name = std::move(name)}; }
  static std::vector<StackFrame> wait() {
    return {native(kNtdll, "NtWaitForSingleObject", SymbolKind::exported),
            native(kOrders, "pause", SymbolKind::pdb)};
  }
  static std::vector<StackFrame> thread_start() {
    return {managed("System.Threading.Thread.StartCallback()"), sub(), sub(),
            native(kKernel32, "BaseThreadInitThunk", SymbolKind::dwarf),
            native(kNtdll, "RtlUserThreadStart", SymbolKind::dwarf)};
  }

  void stack(std::vector<StackFrame> frames) {
    snapshot_.threads[0].stack = {.frames = std::move(frames)};
  }
  // Returns "first+count role; …".
  std::string folded() const {
    std::string text;
    for (const FoldedFrames& frames : RuntimeFrames(snapshot_).of(snapshot_.threads[0].stack)) {
      text += std::to_string(frames.first) + "+" + std::to_string(frames.count) + " " + frames.role + "; ";
    }
    return text;
  }
  std::string text(const FrameFilter& filter = {}) const {
    StringSink sink;
    EXPECT_TRUE(write_text(snapshot_, {.filter = filter}, sink));
    return sink.text;
  }

  Snapshot snapshot_;
};

TEST_F(RuntimeFramesTest, BelowTheLibrarysFirstMethodIsTheThreadsStart) {
  stack(thread_start());
  EXPECT_EQ(folded(), "1+4 thread start; ");
}

TEST_F(RuntimeFramesTest, BelowMainIsTheHostsStartUp) {
  stack({managed("Orders.Program.Main(System.String[])"), sub(),
         native(kCoreclr, "coreclr_execute", SymbolKind::exported), sub(kHostpolicy), sub(kHostfxr),
         native(kHostfxr, "hostfxr_main_startupinfo", SymbolKind::exported), sub(kProgram), sub(kProgram),
         native(kKernel32, "BaseThreadInitThunk", SymbolKind::dwarf),
         native(kNtdll, "RtlUserThreadStart", SymbolKind::dwarf)});
  EXPECT_EQ(folded(), "1+9 host start-up; ");
}

// A program that hosts .NET itself keeps its own frames.
TEST_F(RuntimeFramesTest, ProgramThatIsNoShippedHostStays) {
  stack({managed("Orders.Program.Main()"), sub(), sub(kHostfxr),
         native(kHostfxr, "hostfxr_run_app", SymbolKind::exported), sub(kProgram), sub(kProgram),
         native(kKernel32, "BaseThreadInitThunk", SymbolKind::dwarf),
         native(kNtdll, "RtlUserThreadStart", SymbolKind::dwarf)});
  EXPECT_EQ(folded(), "1+3 the runtime; ");
}

TEST_F(RuntimeFramesTest, HostThatHasNotYetCalledMainIsNoStartUp) {
  std::vector<StackFrame> frames = wait();
  frames.insert(frames.end(), {sub(kHostpolicy), native(kHostfxr, "hostfxr_main", SymbolKind::exported),
                               sub(kProgram), native(kKernel32, "BaseThreadInitThunk", SymbolKind::dwarf),
                               native(kNtdll, "RtlUserThreadStart", SymbolKind::dwarf)});
  stack(frames);
  EXPECT_EQ(folded(), "2+5 the runtime; ");
}

TEST_F(RuntimeFramesTest, ProgramsFramesAreTheHostsOnlyRightBelowTheHosts) {
  stack({sub(kHostpolicy), native(kHostfxr, "hostfxr_main", SymbolKind::exported),
         native(kOrders, "shim", SymbolKind::pdb), sub(kProgram), sub(kProgram)});
  EXPECT_EQ(folded(), "0+2 the runtime; ");
  std::vector<StackFrame> frames = {sub(kHostpolicy), native(kHostfxr, "hostfxr_main", SymbolKind::exported),
                               sub(kProgram), sub(kProgram), sub(kProgram)};
  frames[2].trust = Trust::scan;
  stack(frames);
  EXPECT_EQ(folded(), "0+2 the runtime; ") << "a guess";
  frames[2].trust = Trust::unwind_info;
  frames[2].call = CallCheck::elsewhere;
  stack(frames);
  EXPECT_EQ(folded(), "0+2 the runtime; ") << "marked";
}

TEST_F(RuntimeFramesTest, ImageWithoutAPathIsNotTheProgram) {
  snapshot_.process.path.clear();
  snapshot_.modules[kProgram].path.clear();
  stack({sub(kHostpolicy), native(kHostfxr, "hostfxr_main", SymbolKind::exported), sub(kProgram), sub(kProgram)});
  EXPECT_EQ(folded(), "0+2 the runtime; ");
}

// The program was published as a single file, so the runtime is in the program's own image.
TEST_F(RuntimeFramesTest, ProgramThatHoldsTheRuntimeIsTheRuntime) {
  snapshot_.modules[kCoreclr].path = "C:\\another.dll";
  stack({sub(kProgram), sub(kProgram), managed("M")});
  EXPECT_EQ(folded(), "0+2 the runtime; ");
  stack({sub(kProgram), sub(kProgram)});
  EXPECT_EQ(folded(), "") << "no managed code runs";
}

// NativeAOT compiles the runtime into the image of the program, or of a library of a native program.
TEST_F(RuntimeFramesTest, ImageThatNativeAotCompiledHoldsItsRuntime) {
  snapshot_.modules[kCoreclr].path = "C:\\another.dll";
  for (const Image image : {kProgram, kOrders}) {
    Frame method = managed("System.Threading.Monitor.Enter(System.Object)");
    method.module = image;
    stack({native(kNtdll, "NtWaitForSingleObject", SymbolKind::exported), sub(image), sub(image), std::move(method),
           sub(kProgram), sub(kProgram)});
    EXPECT_EQ(folded(), std::string("1+2 Monitor.Enter waits in the runtime; ") +
                            (image == kProgram ? "4+2 the runtime; " : ""));
  }
}

TEST_F(RuntimeFramesTest, FunctionOfAnotherImageStartsNoThread) {
  stack({managed("System.Threading.Thread.StartCallback()"), sub(), sub(),
         native(kOrders, "BaseThreadInitThunk", SymbolKind::exported),
         native(kOrders, "RtlUserThreadStart", SymbolKind::exported)});
  EXPECT_EQ(folded(), "1+2 the runtime; ");
  stack({managed("System.Threading.Thread.StartCallback()"), sub(), sub(),
         native(kOrders, "RtlUserThreadStart", SymbolKind::exported)});
  EXPECT_EQ(folded(), "1+2 the runtime; ");
}

TEST_F(RuntimeFramesTest, ThreadsOfDotNetFrameworkStartLikewise) {
  std::vector<StackFrame> frames = thread_start();
  frames[0].name = "System.Threading.ThreadHelper.ThreadStart()";
  stack(frames);
  EXPECT_EQ(folded(), "1+4 thread start; ");
}

TEST_F(RuntimeFramesTest, MethodThatWaitsInTheRuntimeGivesTheRole) {
  std::vector<StackFrame> frames = wait();
  frames.insert(frames.end(),
                {sub(), sub(), sub(), managed("System.Threading.Monitor.Enter_Slowpath(System.Object)")});
  stack(frames);
  EXPECT_EQ(folded(), "2+3 Monitor.Enter waits in the runtime; ");
}

TEST_F(RuntimeFramesTest, MethodThatDoesNotWaitIsInTheRuntime) {
  stack({sub(), sub(), managed("System.GC.Collect()")});
  EXPECT_EQ(folded(), "0+2 GC.Collect in the runtime; ");
}

TEST_F(RuntimeFramesTest, MethodWhoseNameOnlyBeginsAlikeProvesNoRole) {
  for (const char* const name :
       {"System.GC.CollectionCount(System.Int32)", "System.Threading.Thread.JoinedByNobody()",
        "System.Threading.Monitor.EnteredCount()", "System.Threading.Thread.SleepyMethod()"}) {
    stack({sub(), sub(), managed(name)});
    EXPECT_EQ(folded(), "0+2 the runtime; ") << name;
  }
  // The stack is that of the slow path of both forms of Monitor.TryEnter with a time.
  stack({sub(), sub(),
         managed("System.Threading.Monitor.ReliableEnterTimeout(System.Object, System.Int32, ref System.Boolean)")});
  EXPECT_EQ(folded(), "0+2 Monitor.TryEnter in the runtime; ");
}

TEST_F(RuntimeFramesTest, MethodsOfTheLibrarysOwnWayGiveTheRole) {
  const std::pair<const char*, const char*> kRoles[] = {
      {"System.Threading.Monitor.Enter_Slowpath(System.Object)", "Monitor.Enter"},
      {"System.Threading.Monitor.ReliableEnter(System.Object, ref System.Boolean)", "Monitor.Enter"},
      {"System.Threading.Monitor.TryEnter_Slowpath(System.Object, System.Int32)", "Monitor.TryEnter"},
      {"System.Threading.Monitor.ObjWait(System.Int32, System.Object)", "Monitor.Wait"},
      {"System.Threading.WaitHandle.WaitOneNoCheck(System.Int32)", "WaitHandle.WaitOne"},
      {"System.Threading.WaitHandle.WaitOneCore(System.IntPtr, System.Int32)", "WaitHandle.WaitOne"},
      {"System.Threading.WaitHandle.WaitMultipleIgnoringSyncContext(System.IntPtr*)",
       "WaitHandle.WaitAny or WaitAll"},
      {"System.Threading.Thread.SleepInternal(System.Int32)", "Thread.Sleep"},
      {"System.Threading.Thread.JoinInternal(System.Int32)", "Thread.Join"},
      {"System.Threading.Thread.YieldInternal()", "Thread.Yield"},
      {"System.Threading.Thread.Yield()", "Thread.Yield"},
      {"System.GC._Collect(System.Int32, System.Int32)", "GC.Collect"},
      {"System.GC.WaitForPendingFinalizers()", "GC.WaitForPendingFinalizers"}};
  for (const auto& [method, role] : kRoles) {
    stack({sub(), sub(), managed(method)});
    EXPECT_EQ(folded(), "0+2 " + std::string(role) + " in the runtime; ") << method;
  }
}

// A wait at the top of the stack says nothing about a run further down.
TEST_F(RuntimeFramesTest, WaitOfAnotherRunProvesNothing) {
  std::vector<StackFrame> frames = wait();
  frames.insert(frames.end(), {managed("Orders.Callback()"), sub(), sub(),
                               managed("System.Threading.Monitor.Enter(System.Object)")});
  stack(frames);
  EXPECT_EQ(folded(), "3+2 Monitor.Enter in the runtime; ");
}

TEST_F(RuntimeFramesTest, OtherMethodsProveNoRole) {
  stack({sub(), sub(), managed("Orders.Program.Throw()")});
  EXPECT_EQ(folded(), "0+2 the runtime; ");
  stack({sub(), sub(), native(kKernel32, "BaseThreadInitThunk", SymbolKind::dwarf),
         native(kNtdll, "RtlUserThreadStart", SymbolKind::dwarf)});
  EXPECT_EQ(folded(), "0+4 the runtime; ") << "a thread of the runtime's own";
  stack({managed("Orders.Callback()"), sub(), sub()});
  EXPECT_EQ(folded(), "1+2 the runtime; ");
}

TEST_F(RuntimeFramesTest, FramesWithNamesStay) {
  stack({sub(), native(kCoreclr, "Thread::DoWait", SymbolKind::pdb), sub(), managed("M")});
  EXPECT_EQ(folded(), "");
  stack({sub(), native(kCoreclr, "JIT_New", SymbolKind::coff), sub(), managed("M")});
  EXPECT_EQ(folded(), "");
  stack({sub(kOrders), sub(kOrders), managed("M")});
  EXPECT_EQ(folded(), "") << "not the runtime's";
}

TEST_F(RuntimeFramesTest, ThreadStartOfANativeThreadStays) {
  std::vector<StackFrame> frames = wait();
  frames.insert(frames.end(), {native(kKernel32, "BaseThreadInitThunk", SymbolKind::exported),
                               native(kNtdll, "RtlUserThreadStart", SymbolKind::exported)});
  stack(frames);
  EXPECT_EQ(folded(), "");
}

TEST_F(RuntimeFramesTest, MarkedAndGuessedFramesAndGapsStay) {
  for (const CallCheck wrong : {CallCheck::no_call, CallCheck::elsewhere}) {
    std::vector<StackFrame> frames = {sub(), sub(), sub(), sub(), sub(), managed("M")};
    frames[2].call = wrong;
    stack(frames);
    EXPECT_EQ(folded(), "0+2 the runtime; 3+2 the runtime; ");
  }
  std::vector<StackFrame> frames = {sub(), sub(), sub(), managed("M")};
  frames[0].trust = Trust::scan;
  stack(frames);
  EXPECT_EQ(folded(), "1+2 the runtime; ");
  stack({managed("M"), sub(), sub(), {{.kind = FrameKind::gap}}});
  EXPECT_EQ(folded(), "1+2 the runtime; ");
}

TEST_F(RuntimeFramesTest, StackThatDoesNotReachItsRootHasNoThreadStart) {
  std::vector<StackFrame> frames = thread_start();
  frames.push_back({{.kind = FrameKind::gap}});
  stack(frames);
  EXPECT_EQ(folded(), "1+2 the runtime; ");
  stack(thread_start());
  Stack& stack = snapshot_.threads[0].stack;
  stack.runs_of_whole = stack.runs();
  stack.runs_of_whole.back().end = RunEnd::closed;
  EXPECT_EQ(folded(), "1+2 the runtime; ");
}

TEST_F(RuntimeFramesTest, TextHasOneLineForThem) {
  stack(thread_start());
  EXPECT_NE(text().find("StartCallback()\n  #1   N  [thread start, 4 frames]\n\n"), std::string::npos)
      << text();
}

TEST_F(RuntimeFramesTest, AllShowsEachOne) {
  stack(thread_start());
  const std::string all = text({.all = true});
  EXPECT_EQ(all.find("thread start"), std::string::npos) << all;
  EXPECT_NE(all.find("  #4   N  ntdll.dll!RtlUserThreadStart\n"), std::string::npos) << all;
}

TEST_F(RuntimeFramesTest, InlinedCallsGoWithTheirFrame) {
  std::vector<StackFrame> frames = thread_start();
  StackFrame inlined = frames.back();
  inlined.inline_depth = 1;
  inlined.name = "call_thread_func";
  frames.insert(frames.end() - 1, inlined);
  stack(frames);
  EXPECT_EQ(folded(), "1+5 thread start; ");
  EXPECT_NE(text().find("[thread start, 4 frames]"), std::string::npos) << text();
}

TEST_F(RuntimeFramesTest, DepthThatEndsAmongThemCountsWhatItShows) {
  stack(thread_start());
  const std::string shown = text({.depth = 3});
  EXPECT_NE(shown.find("  #1   N  [thread start, 2 frames]\n  … 2 more frames\n"), std::string::npos)
      << shown;
}

}  // namespace
}  // namespace mixwalk
