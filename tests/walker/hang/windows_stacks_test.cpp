// Stacks as public traces of Windows show them. Wine has other frames. The names are those that PDBs give, or those
// that exports alone give: "!sub_1" is a function without a name.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/builders/hang_builder.h"
#include "walker/hang/waits.h"

namespace mixwalk {
namespace {

using test::HangBuilder;
using test::managed_thread;
using test::native_thread;
using Frames = std::vector<std::string>;

Frames joined(std::initializer_list<Frames> parts) {
  Frames all;
  for (const Frames& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Wait wait_with(const Frames& frames) {
  HangBuilder builder;
  builder.thread(0x10, frames);
  return wait_of(FrameNames(builder.snapshot()), builder.last());
}

void expect_wait(const Wait& found, WaitState state, std::string_view rule) {
  EXPECT_EQ(found.rule, rule) << found.words;
  EXPECT_EQ(found.state, state) << found.words;
}

// A thread of a single-threaded apartment that waits in the runtime.
const Frames kApartment = {"win32u!NtUserMsgWaitForMultipleObjectsEx",
                           "user32!sub_1",
                           "user32!MsgWaitForMultipleObjectsEx",
                           "combase!sub_2",
                           "combase!sub_3",
                           "combase!CoWaitForMultipleHandles",
                           "coreclr!",
                           "coreclr!"};
// Its SynchronizationContext has asked to wait itself, as WPF's does.
const Frames kContext = {
    "M System.Threading.SynchronizationContext.WaitHelper(System.IntPtr[])",
    "M System.Windows.Threading.DispatcherSynchronizationContext.Wait(System.IntPtr[])",
    "M System.Threading.SynchronizationContext.InvokeWaitMethodHelper(System.Threading.SynchronizationContext)",
    "coreclr!", "coreclr!"};
const Frames kLock = {"M System.Threading.Monitor.Enter(System.Object, System.Boolean)", "M Orders.Window.OnClick()"};
const Frames kResult = {"M System.Threading.Monitor.Wait(System.Object, System.Int32)",
                        "M System.Threading.ManualResetEventSlim.Wait(System.Int32)",
                        "M System.Threading.Tasks.Task.SpinThenBlockingWait(System.Int32)",
                        "M System.Threading.Tasks.Task.InternalWaitCore(System.Int32)", "M Orders.Window.OnClick()"};
// A cross-apartment call of a thread of a single-threaded apartment.
const Frames kCallOut = {"win32u!NtUserMsgWaitForMultipleObjectsEx",
                         "user32!sub_1",
                         "user32!MsgWaitForMultipleObjectsEx",
                         "combase!sub_2",
                         "combase!sub_3",
                         "combase!sub_4",
                         "rpcrt4!NdrClientCall3",
                         "combase!ObjectStublessClient3"};

TEST(WindowsStacks, AUserInterfaceOfWindowsFormsInALock) {
  expect_wait(wait_with(managed_thread(joined({kApartment, kLock}))), WaitState::blocked, "monitor-enter");
}

TEST(WindowsStacks, AUserInterfaceWhoseContextWaits) {
  const Wait lock = wait_with(managed_thread(joined({kApartment, kContext, {"coreclr!"}, kLock})));
  expect_wait(lock, WaitState::blocked, "monitor-enter");
  EXPECT_EQ(lock.frame, 14u);
  EXPECT_EQ(lock.program, 15u);
  expect_wait(wait_with(managed_thread(joined({kApartment, kContext, kResult}))), WaitState::signal, "task-wait");
  for (const auto& [method, rule] : std::initializer_list<std::pair<std::string, std::string_view>>{
           {"M System.Threading.WaitHandle.WaitOneNoCheck(System.Int32)", "wait-handle"},
           {"M System.Threading.Thread.Join(System.Int32)", "join"}}) {
    EXPECT_EQ(wait_with(managed_thread(joined({kApartment, kContext, {method, "M Orders.Window.OnClick()"}}))).rule,
              rule);
  }
}

// The dispatcher handles no messages, so the context waits by a P/Invoke. Avalonia's does the same.
TEST(WindowsStacks, AUserInterfaceWhoseContextWaitsWithoutMessages) {
  const Frames call = {"ntdll!NtWaitForMultipleObjects", "kernelbase!WaitForMultipleObjectsEx",
                       "P kernel32!WaitForMultipleObjectsEx",
                       "M MS.Win32.UnsafeNativeMethods.WaitForMultipleObjectsEx(System.Int32)"};
  const Frames context(kContext.begin() + 1, kContext.end());
  expect_wait(wait_with(managed_thread(joined({call, context, kLock}))), WaitState::blocked, "monitor-enter");
}

// A context of the program itself, whose Wait calls other methods of the program.
TEST(WindowsStacks, AContextOfTheProgramThatWaits) {
  Frames context = kContext;
  context[1] = "M Orders.Context.Wait(System.IntPtr[])";
  context.insert(context.begin() + 1, "M Orders.Context.WaitSlowly()");
  const Wait found = wait_with(managed_thread(joined({kApartment, context, kLock})));
  expect_wait(found, WaitState::blocked, "monitor-enter");
}

// The JIT has made jumps of calls: of that of Wait in .NET 10, and in short contexts also of that of WaitHelper.
TEST(WindowsStacks, AContextThatWaitsWithFewerFrames) {
  const std::string waits = "M Orders.Context.Wait(System.IntPtr[], System.Boolean, System.Int32)";
  for (const Frames& context : {Frames{kContext[0], waits}, Frames{waits}, Frames{kContext[0]}}) {
    const Wait found = wait_with(managed_thread(joined({kApartment, context, {"coreclr!", "coreclr!"}, kLock})));
    expect_wait(found, WaitState::blocked, "monitor-enter");
  }
  const std::string one = "M System.Threading.WaitHandle.WaitOneNoCheck(System.Int32)";
  EXPECT_EQ(
      wait_with(managed_thread(joined({kApartment, {kContext[0], waits, one, "M Orders.Window.OnClick()"}}))).rule,
      "wait-handle");
  // A method of the program with such a name that the program itself calls.
  EXPECT_EQ(wait_with(managed_thread(joined({kApartment, {waits, "M Orders.Window.OnClick()"}, kLock}))).rule,
            "runtime-wait");
}

// A handler of messages runs inside the wait. What the handler waits for is the thread's wait.
TEST(WindowsStacks, AHandlerInsideTheWaitOfAContextHasItsOwnWait) {
  const Frames handler = {"ntdll!NtDelayExecution", "kernelbase!SleepEx", "coreclr!",
                          "M System.Threading.Thread.Sleep(System.Int32)", "M Orders.Window.OnTimer()"};
  const Wait found = wait_with(managed_thread(joined({handler, kApartment, kContext, kLock})));
  expect_wait(found, WaitState::outside, "sleep");
}

// The context waits, and the method for which it waits is no wait that the table knows.
TEST(WindowsStacks, AContextThatWaitsForAnUnknownMethod) {
  const Wait found = wait_with(managed_thread(joined({kApartment, kContext, {"M Orders.Window.OnClick()"}})));
  expect_wait(found, WaitState::unknown, "runtime-wait");
}

TEST(WindowsStacks, AMessageLoopIsIdle) {
  const Frames loop = {"win32u!NtUserGetMessage", "user32!GetMessageW", "P user32!GetMessageW",
                       "M System.Windows.Forms.Application+ComponentManager.RunLoop()", "M Orders.Program.Main()"};
  EXPECT_EQ(wait_with(managed_thread(loop)).state, WaitState::idle);
  EXPECT_EQ(wait_with(native_thread({"win32u!NtUserMsgWaitForMultipleObjectsEx", "user32!MsgWaitForMultipleObjectsEx",
                                "orders_native!loop"})).state,
            WaitState::idle);
  // COM's own thread that serves an apartment.
  EXPECT_EQ(wait_with(native_thread({"win32u!NtUserGetMessage", "user32!GetMessageW", "combase!sub_1"})).state,
            WaitState::idle);
}

TEST(WindowsStacks, ANewThreadThatWaitsForTheLoaderLock) {
  const Frames exports = {"ntdll!NtWaitForSingleObject", "ntdll!sub_1", "ntdll!sub_2", "ntdll!sub_3",
                          "ntdll!LdrInitializeThunk"};
  const Frames pdb = {"ntdll!NtWaitForSingleObject", "ntdll!LdrpDrainWorkQueue", "ntdll!LdrpInitializeThread",
                      "ntdll!_LdrpInitialize", "ntdll!LdrpInitialize", "ntdll!LdrInitializeThunk"};
  expect_wait(wait_with(exports), WaitState::blocked, "loader-lock");
  expect_wait(wait_with(pdb), WaitState::blocked, "loader-lock");
  expect_wait(wait_with(native_thread({"ntdll!NtWaitForSingleObject", "ntdll!sub_1", "ntdll!sub_2",
                                       "ntdll!LdrUnloadDll", "kernelbase!FreeLibrary", "orders_native!x"})),
              WaitState::blocked, "loader-lock");
  // DllMain of the program runs for the new thread, and waits for something else.
  EXPECT_NE(
      wait_with({"ntdll!NtWaitForSingleObject", "orders_native!DllMain", "ntdll!sub_1", "ntdll!LdrInitializeThunk"})
          .rule,
      "loader-lock");
}

TEST(WindowsStacks, AFileOnAMachineThatDoesNotAnswer) {
  const Frames open = {"ntdll!NtCreateFile",
                       "kernelbase!sub_1",
                       "kernelbase!CreateFileW",
                       "P kernel32!CreateFileW",
                       "M Interop+Kernel32.CreateFile(System.String)",
                       "M Microsoft.Win32.SafeHandles.SafeFileHandle.CreateFile(System.String)",
                       "M System.IO.Strategies.FileStreamHelpers.ChooseStrategy(System.IO.FileStream)",
                       "M Orders.Files.Load()"};
  expect_wait(wait_with(managed_thread(open)), WaitState::outside, "managed-file-open");
  expect_wait(wait_with(native_thread({"ntdll!NtCreateFile", "kernelbase!CreateFileW", "orders_native!load"})),
              WaitState::outside, "file-open");
  expect_wait(wait_with(managed_thread({"ntdll!NtQueryFullAttributesFile", "kernelbase!GetFileAttributesExW",
                                        "P kernel32!GetFileAttributesExW",
                                        "M Interop+Kernel32.GetFileAttributesEx(System.String)",
                                        "M System.IO.FileSystem.FileExists(System.String)", "M Orders.Files.Load()"})),
              WaitState::outside, "managed-file-open");
}

TEST(WindowsStacks, ALockOfAFileAndAChangeOfAFolder) {
  const Wait lock =
      wait_with(managed_thread({"ntdll!NtLockFile", "kernelbase!LockFileEx", "P kernel32!LockFileEx", "M Orders.X()"}));
  expect_wait(lock, WaitState::outside, "file-lock");
  expect_wait(wait_with(native_thread(
                  {"ntdll!NtNotifyChangeDirectoryFileEx", "kernelbase!ReadDirectoryChangesW", "orders_native!x"})),
              WaitState::idle, "change-notification");
}

TEST(WindowsStacks, AWindowOfAnotherThread) {
  const Wait found =
      wait_with(managed_thread({"win32u!NtUserSetWindowPos", "P user32!SetWindowPos", "M Orders.Form.X()"}));
  expect_wait(found, WaitState::blocked, "window-call");
  expect_wait(wait_with(managed_thread({"win32u!NtUserMessageCall", "user32!sub_1", "user32!SendMessageW",
                                        "P user32!SendMessageW", "M Orders.Form.X()"})),
              WaitState::blocked, "send-message");
}

TEST(WindowsStacks, ACallOfComIntoAnotherApartment) {
  expect_wait(wait_with(native_thread(joined({kCallOut, {"orders_native!ask"}}))), WaitState::blocked, "com-call");
  const Wait in_call =
      wait_with(managed_thread(joined({kCallOut, {"orders_native!ask", "P orders_native!ask", "M Orders.Form.X()"}})));
  expect_wait(in_call, WaitState::blocked, "com-call");
  EXPECT_EQ(in_call.words, "waits for a COM call into another apartment or process, in the P/Invoke orders_native!ask");
  const Wait alpc = wait_with(managed_thread({"ntdll!NtAlpcSendWaitReceivePort", "rpcrt4!sub_1", "rpcrt4!sub_2",
                                         "rpcrt4!NdrClientCall3", "combase!sub_6", "orders_native!ask",
                                         "P orders_native!ask", "M Orders.Form.X()"}));
  expect_wait(alpc, WaitState::blocked, "com-call");
  // The runtime itself calls: a cast, the release of an object, an activation, a call through `dynamic`.
  for (const char* method :
       {"M Orders.Form.X()", "M System.Runtime.InteropServices.Marshal.FinalReleaseComObject(System.Object)",
        "M System.RuntimeTypeHandle.CreateInstanceForAnotherGenericParameter()",
        "M System.Dynamic.ComRuntimeHelpers.GetITypeInfoFromIDispatch(System.Object)"}) {
    expect_wait(wait_with(managed_thread(joined({kCallOut, {"coreclr!", "coreclr!", method, "M Orders.Form.Y()"}}))),
                WaitState::blocked, "com-call");
  }
}

// The finalizer thread releases an object of an apartment that does not answer.
TEST(WindowsStacks, AFinalizerInACallOfCom) {
  HangBuilder builder;
  builder.thread(
      1, native_thread(joined({kCallOut, {"coreclr!", "coreclr!FinalizerThread::FinalizerThreadWorker(void *)"}})),
      ".NET Finalizer");
  const Wait found = wait_of(FrameNames(builder.snapshot()), builder.last());
  expect_wait(found, WaitState::blocked, "com-call");
  EXPECT_EQ(builder.last().stack.frames[found.frame].name, "ObjectStublessClient3");
}

// The loader reads a DLL, a heap gets memory, and a thread that leaves a lock wakes another one. They may hold the
// lock, and do not wait for it.
TEST(WindowsStacks, ASystemCallThatWaitsForNothingIsNoWaitForALock) {
  for (const Frames& frames : {Frames{"ntdll!NtMapViewOfSection", "ntdll!LdrpMinimalMapModule", "ntdll!LdrLoadDll",
                                      "kernelbase!LoadLibraryExW", "orders_native!x"},
                               Frames{"ntdll!NtAllocateVirtualMemory", "ntdll!sub_1", "ntdll!RtlAllocateHeap",
                                      "orders_native!x"}}) {
    expect_wait(wait_with(native_thread(frames)), WaitState::unknown, "system-call");
  }
  expect_wait(wait_with(managed_thread({"ntdll!NtSetEvent", "kernelbase!SetEvent", "P kernel32!SetEvent",
                                        "M Interop+Kernel32.SetEvent(System.IntPtr)",
                                        "M System.Threading.EventWaitHandle.Set()",
                                        "M System.Threading.ReaderWriterLockSlim.ExitWriteLock()", "M Orders.X()"})),
              WaitState::unknown, "system-call");
  // Messages are handled while a thread of a single-threaded apartment waits for a monitor.
  expect_wait(wait_with(managed_thread(joined({{"win32u!NtUserPeekMessage", "user32!PeekMessageW", "combase!sub_1",
                                                "combase!CoWaitForMultipleHandles", "coreclr!"}, kLock}))),
              WaitState::blocked, "monitor-enter");
}

// The system itself has called the functions above a dispatcher, so the thread is not in the call below it any more.
TEST(WindowsStacks, WhatADispatcherHasInterruptedIsNotTheWait) {
  const Frames wait = {"ntdll!NtWaitForSingleObject", "kernelbase!WaitForSingleObjectEx"};
  // A window procedure of the system, which the thread's own call has called.
  expect_wait(wait_with(native_thread(joined({wait, {"user32!sub_1", "ntdll!KiUserCallbackDispatcher",
                                                     "win32u!NtUserDestroyWindow", "orders_native!close"}}))),
              WaitState::signal, "native-wait");
  // The heap has found that it is damaged, and the report of that waits.
  expect_wait(
      wait_with(native_thread(joined({wait,
                                      {"kernelbase!UnhandledExceptionFilter", "ntdll!RtlDispatchException",
                                       "ntdll!KiUserExceptionDispatch", "ntdll!RtlAllocateHeap", "orders_native!x"}}))),
      WaitState::signal, "native-wait");
  // A handler of exceptions waits for a method of the program, which has called nothing.
  const Wait handler =
      wait_with(managed_thread(joined({wait, {"watcher!handler", "ntdll!RtlDispatchException",
                                              "ntdll!KiUserExceptionDispatcher", "M Orders.X()"}})));
  EXPECT_EQ(handler.call, "");
}

// The program itself waits by COM's function, which handles messages meanwhile.
TEST(WindowsStacks, AWaitOfTheProgramThroughComIsAWait) {
  Frames wait_in_com(kApartment.begin(), kApartment.begin() + 6);
  expect_wait(wait_with(native_thread(joined({wait_in_com, {"orders_native!x"}}))), WaitState::signal, "native-wait");
  for (const Frames& call : {Frames{"P ole32!CoWaitForMultipleHandles", "M Orders.X()"}, Frames{"M Orders.X()"}}) {
    expect_wait(wait_with(managed_thread(joined({wait_in_com, call}))), WaitState::signal, "system-wait");
  }
}

TEST(WindowsStacks, OtherLoopsOfComAreNoCalls) {
  // A person drags something out of the window.
  const Frames drag = {"win32u!NtUserGetMessage", "user32!GetMessageW", "ole32!sub_1", "ole32!DoDragDrop"};
  EXPECT_EQ(wait_with(managed_thread(joined({drag, {"P ole32!DoDragDrop", "M Orders.Form.Drag()"}}))).state,
            WaitState::idle);
  EXPECT_EQ(
      wait_with(managed_thread(joined({drag, {"orders_native!drag", "P orders_native!drag", "M Orders.X()"}}))).state,
      WaitState::idle);
  // COM's own synchronisation object waits by the same function.
  const Frames wait_in_com(kApartment.begin(), kApartment.begin() + 6);
  EXPECT_EQ(wait_with(native_thread(joined({wait_in_com, {"combase!sub_7", "orders_native!x"}}))).rule, "native-wait");
  // Nothing shows what COM does here.
  EXPECT_NE(wait_with(managed_thread({"win32u!NtUserGetMessage", "user32!GetMessageW", "combase!sub_1",
                                      "orders_native!x", "P orders_native!x", "M Orders.X()"}))
                .rule,
            "com-call");
}

// Other software has patched the system call in which the thread waits for the answer.
TEST(WindowsStacks, ACallOfComBehindAPatch) {
  Frames frames = kCallOut;
  frames.insert(frames.begin() + 1, "watcher!hook");
  expect_wait(wait_with(native_thread(joined({frames, {"orders_native!ask"}}))), WaitState::blocked, "com-call");
}

// The thread executes a call of another apartment, and waits for something of its own.
TEST(WindowsStacks, AServerOfComThatWaitsIsInNoCall) {
  EXPECT_EQ(wait_with(native_thread({"ntdll!NtWaitForSingleObject", "kernelbase!WaitForSingleObjectEx",
                                     "orders_native!serve", "rpcrt4!Invoke", "combase!sub_1", "combase!sub_2"}))
                .rule,
            "native-wait");
  EXPECT_EQ(
      wait_with(native_thread({"ntdll!NtDelayExecution", "kernelbase!SleepEx", "orders_native!serve", "rpcrt4!Invoke"}))
          .rule,
      "native-sleep");
}

TEST(WindowsStacks, RpcOfTheProgramIsNotKnownToLeaveTheProcess) {
  const Wait found =
      wait_with(managed_thread({"ntdll!NtAlpcSendWaitReceivePort", "rpcrt4!sub_1", "rpcrt4!NdrClientCall3",
                                "orders_native!ask", "P orders_native!ask", "M Orders.X()"}));
  expect_wait(found, WaitState::outside, "rpc-call");
  EXPECT_EQ(found.words, "waits for the answer of an RPC server, in the P/Invoke orders_native!ask");
}

TEST(WindowsStacks, AConsoleWhoseTextIsSelected) {
  expect_wait(wait_with(native_thread({"ntdll!NtDeviceIoControlFile", "kernelbase!sub_1", "kernelbase!WriteConsoleW",
                                  "orders_native!log"})),
              WaitState::blocked, "native-console-write");
}

TEST(WindowsStacks, DebugOutputThatNobodyTakes) {
  expect_wait(
      wait_with(native_thread({"ntdll!NtWaitForSingleObject", "kernelbase!WaitForSingleObjectEx",
                               "kernelbase!OutputDebugStringA", "kernelbase!OutputDebugStringW", "orders_native!log"})),
      WaitState::blocked, "debug-output");
}

TEST(WindowsStacks, AHostsAddress) {
  expect_wait(wait_with(native_thread({"ntdll!NtAlpcSendWaitReceivePort", "rpcrt4!sub_1", "rpcrt4!NdrClientCall3",
                                       "dnsapi!sub_1", "ws2_32!GetAddrInfoW", "orders_native!x"})),
              WaitState::outside, "native-name-lookup");
  expect_wait(wait_with(native_thread({"ntdll!NtWaitForSingleObject", "mswsock!sub_1", "mswsock!sub_2", "ws2_32!recv",
                                  "orders_native!x"})),
              WaitState::outside, "native-socket-receive");
}

TEST(WindowsStacks, ASlimLockOfWindows11) {
  expect_wait(wait_with(native_thread({"ntdll!NtWaitForAlertByThreadId", "ntdll!RtlpAcquireSRWLockExclusiveContended",
                                  "orders_native!x"})),
              WaitState::blocked, "srw-lock");
  // By exports only, the call before the next return address names the function (CallChecker).
  expect_wait(wait_with(native_thread({"ntdll!NtWaitForAlertByThreadId", "ntdll!AcquireSRWLockExclusive [tail call]",
                                  "orders_native!x"})),
              WaitState::blocked, "srw-lock");
  // Otherwise it may be a lock or a condition variable.
  const Wait unnamed = wait_with(native_thread({"ntdll!NtWaitForAlertByThreadId", "ntdll!sub_9", "orders_native!x"}));
  expect_wait(unnamed, WaitState::unknown, "alert-wait");
  EXPECT_EQ(wait_with(native_thread({"ntdll!ZwWaitForAlertByThreadId", "ntdll!sub_9", "orders_native!x"})).rule,
            "alert-wait");
  // The workers of the system's own pool wait so as well.
  EXPECT_EQ(wait_with(native_thread({"ntdll!NtWaitForAlertByThreadId", "ntdll!sub_9"})).state, WaitState::idle);
}

// Other software has patched the system call.
TEST(WindowsStacks, AFrameOfOtherSoftwareInsideAWaitIsLookedThrough) {
  const auto expect_same = [](const Frames& with, const Frames& without) {
    const Wait a = wait_with(managed_thread(with)), b = wait_with(managed_thread(without));
    expect_wait(a, b.state, b.rule);
    EXPECT_EQ(a.words, b.words);
  };
  const Frames rest = {"kernelbase!WaitForSingleObjectEx", "P kernel32!WaitForSingleObject", "M Orders.X()"};
  expect_same(joined({{"ntdll!NtWaitForSingleObject", "watcher!hook", "code"}, rest}),
              joined({{"ntdll!NtWaitForSingleObject"}, rest}));
  expect_wait(wait_with(native_thread({"ntdll!NtWaitForAlertByThreadId", "watcher!hook",
                                       "ntdll!RtlAcquireSRWLockExclusive", "orders_native!x"})),
              WaitState::blocked, "srw-lock");
  // A library of the program that calls ntdll.dll itself is no such software.
  EXPECT_EQ(
      wait_with(managed_thread({"ntdll!NtWaitForSingleObject", "orders_native!x", "P orders_native!x", "M Orders.X()"}))
          .state,
      WaitState::calls);
}

TEST(WindowsStacks, ASystemCallWithoutARuleDoesNotRun) {
  const Wait found = wait_with(native_thread({"ntdll!NtFsControlFileLater", "orders_native!x"}));
  expect_wait(found, WaitState::unknown, "system-call");
  EXPECT_EQ(found.words, "is in the system call NtFsControlFileLater");
  expect_wait(wait_with(managed_thread(
                  {"win32u!NtUserPeekMessage", "user32!PeekMessageW", "P user32!PeekMessageW", "M Orders.X()"})),
              WaitState::unknown, "system-call");
  EXPECT_EQ(wait_with(native_thread({"ntdll!RtlHashUnicodeString", "orders_native!x"})).state, WaitState::runs);
}

// The JIT may have inlined the stub of a P/Invoke.
TEST(WindowsStacks, APInvokeWithoutItsStubIsAPInvoke) {
  const auto same_state = [](Frames frames) {
    const Wait with = wait_with(managed_thread(frames));
    std::erase_if(frames, [](const std::string& frame) { return frame.starts_with("P "); });
    const Wait without = wait_with(managed_thread(frames));
    expect_wait(without, with.state, with.rule);
    EXPECT_EQ(without.words, with.words);
    EXPECT_EQ(without.call, with.call);
  };
  same_state({"ntdll!NtDelayExecution", "kernelbase!SleepEx", "P kernelbase!SleepEx", "M Orders.X()"});
  same_state({"ntdll!NtWaitForMultipleObjects", "kernelbase!WaitForMultipleObjectsEx",
              "P kernelbase!WaitForMultipleObjectsEx", "M Orders.X()"});
  same_state({"ntdll!NtWaitForSingleObject", "kernelbase!WaitForSingleObjectEx", "orders_native!submit",
              "P orders_native!submit", "M Orders.X()"});
  // The runtime itself waits for a method of the program.
  EXPECT_EQ(wait_with(managed_thread({"ntdll!NtWaitForSingleObject", "kernelbase!WaitForSingleObjectEx", "coreclr!",
                                      "M Orders.X()"}))
                .rule,
            "runtime-wait");
}

// Code that the program has generated, in no image.
TEST(WindowsStacks, GeneratedCodeThatSpinsRuns) {
  EXPECT_EQ(wait_with(native_thread({"code", "orders_native!run"})).state, WaitState::runs);
}

}  // namespace
}  // namespace mixwalk
