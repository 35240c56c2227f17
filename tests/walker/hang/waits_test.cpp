#include "walker/hang/waits.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/builders/hang_builder.h"
#include "walker/hang/wait_rules.h"

namespace mixwalk {
namespace {

using test::HangBuilder;
using test::main_thread;
using test::managed_thread;
using test::native_thread;
using test::pool_thread;
using Frames = std::vector<std::string>;

Wait wait(const Frames& frames, const std::string& name = {}) {
  HangBuilder builder;
  builder.thread(0x10, frames, name);
  return wait_of(FrameNames(builder.snapshot()), builder.last());
}

const std::string kWait = "ntdll!NtWaitForMultipleObjects";
const std::string kProgram = "M Orders.Service.Run()";

// Returns a thread of the program: a wait of the runtime, below it methods of .NET, then the program.
Frames in_runtime(Frames methods) {
  Frames frames = {kWait, "kernelbase!WaitForMultipleObjectsEx", "coreclr!", "coreclr!"};
  for (std::string& method : methods) frames.push_back("M " + method);
  frames.push_back(kProgram);
  return managed_thread(frames);
}

struct RuleCase {
  std::string rule;
  Frames with;     // a stack for which the rule must match
  Frames without;  // a similar stack, for which it must not match
  std::string name;  // the thread's name
};

const std::vector<RuleCase>& cases() {
  static const std::string monitor_wait = "System.Threading.Monitor.Wait(System.Object, System.Int32)";
  static const std::string event_slim =
      "System.Threading.ManualResetEventSlim.Wait(System.Int32, System.Threading.CancellationToken)";
  static const std::string wait_one = "System.Threading.WaitHandle.WaitOneNoCheck(System.Int32)";
  static const std::string semaphore =
      "System.Threading.SemaphoreSlim.WaitCore(System.Int64, System.Threading.CancellationToken)";
  static const std::string sleep = "System.Threading.Thread.Sleep(System.Int32)";
  static const std::string spin_once = "System.Threading.SpinWait.SpinOnceCore(System.Int32)";
  static const std::string enter = "System.Threading.Monitor.Enter_Slowpath(System.Object)";
  static const std::string task = "System.Threading.Tasks.Task.InternalWait(System.Int32)";
  static const std::string read_file = "Interop+Kernel32.ReadFile(System.IntPtr)";
  static const std::string write_file = "Interop+Kernel32.WriteFile(System.IntPtr)";
  static const auto native = [](Frames frames) { return native_thread(std::move(frames)); };
  static const auto interop = [](const std::string& leaf, const std::string& method) {
    return managed_thread({leaf, "kernelbase!Something", "M " + method, kProgram});
  };
  static const std::vector<RuleCase> kCases = {
      // A wait in the system's libraries is a wait for an object; a wait in a library of the program is the program's
      // own.
      {"system-wait", native({kWait, "gap"}), native({"orders_native!work"})},
      {"native-sleep", native({"ntdll!NtDelayExecution", "gap"}), native({kWait, "gap"})},
      {"io-completion", native({"ntdll!NtRemoveIoCompletion", "orders_native!pump"}),
       native({kWait, "orders_native!pump"})},
      {"system-pool-worker", native({"ntdll!NtWaitForWorkViaWorkerFactory", "ntdll!TppWorkerThread"}),
       native({kWait, "ntdll!TppWorkerThread"})},
      {"file-read", native({"ntdll!NtReadFile", "kernelbase!ReadFile", "orders_native!load"}),
       native({"ntdll!NtWriteFile", "kernelbase!WriteFile", "orders_native!load"})},
      {"file-write", native({"ntdll!NtWriteFile", "kernelbase!WriteFile", "orders_native!save"}),
       native({"ntdll!NtReadFile", "kernelbase!ReadFile", "orders_native!save"})},
      {"device-io", native({"ntdll!NtDeviceIoControlFile", "orders_native!read_card"}),
       native({kWait, "orders_native!read_card"})},
      {"file-open", native({"ntdll!NtCreateFile", "kernelbase!CreateFileW", "orders_native!load"}),
       native({"ntdll!NtReadFile", "kernelbase!ReadFile", "orders_native!load"})},
      {"file-lock", native({"ntdll!NtLockFile", "kernelbase!LockFileEx", "orders_native!save"}),
       native({"ntdll!NtUnlockFile", "kernelbase!UnlockFileEx", "orders_native!save"})},
      {"change-notification",
       native({"ntdll!NtNotifyChangeKey", "kernelbase!RegNotifyChangeKeyValue", "orders_native!watch"}),
       native({"ntdll!NtQueryKey", "kernelbase!RegQueryInfoKeyW", "orders_native!watch"})},
      {"vertical-blank", native({"win32u!NtGdiDdDDIWaitForVerticalBlankEvent", "orders_native!draw"}),
       native({"win32u!NtGdiDdDDIPresent", "orders_native!draw"})},
      {"system-call", native({"ntdll!NtQueryKey", "kernelbase!RegQueryInfoKeyW", "orders_native!work"}),
       native({"ntdll!RtlQueryKey", "orders_native!work"})},
      {"rpc-call", native({"ntdll!NtAlpcSendWaitReceivePort", "gap"}), native({kWait, "rpcrt4!call", "gap"})},
      {"send-message", native({"win32u!NtUserMessageCall", "user32!SendMessageW", "orders_native!ask_window"}),
       native({"win32u!NtUserGetMessage", "user32!GetMessageW", "orders_native!ask_window"})},
      {"window-call", native({"win32u!NtUserShowWindow", "user32!ShowWindow", "orders_native!show"}),
       native({"win32u!NtUserShowWindowAsync", "user32!ShowWindowAsync", "orders_native!show"})},
      {"message-loop", native({"win32u!NtUserGetMessage", "user32!GetMessageW", "orders_native!loop"}),
       // The loop handles a message, and the handler enters a critical section.
       native({kWait, "ntdll!RtlEnterCriticalSection", "orders_native!on_click", "user32!DispatchMessageW"})},
      {"loader-lock",
       native({kWait, "ntdll!RtlEnterCriticalSection", "ntdll!LdrpAcquireLoaderLock", "ntdll!LdrLoadDll"}),
       // DllMain waits for something, and the loader lock is what it holds.
       native({kWait, "kernelbase!WaitForSingleObject", "orders_native!DllMain", "ntdll!LdrLoadDll"})},
      {"heap", native({kWait, "ntdll!RtlEnterCriticalSection", "ntdll!RtlAllocateHeap", "orders_native!work"}),
       native({kWait, "ntdll!RtlEnterCriticalSection", "orders_native!work", "ntdll!RtlAllocateHeap"})},
      {"critical-section", native({kWait, "ntdll!RtlEnterCriticalSection", "orders_native!work"}),
       native({kWait, "kernelbase!WaitForSingleObjectEx", "orders_native!work", "ntdll!RtlEnterCriticalSection"})},
      {"srw-lock", native({"ntdll!NtWaitForAlertByThreadId", "ntdll!RtlAcquireSRWLockExclusive", "orders_native!work"}),
       native({"ntdll!NtWaitForAlertByThreadId", "ntdll!RtlWaitOnAddress", "orders_native!work"})},
      {"condition-variable",
       managed_thread({"ntdll!NtWaitForAlertByThreadId", "ntdll!RtlSleepConditionVariableSRW", "orders_native!work",
                       "P orders_native!work", kProgram}),
       managed_thread({"ntdll!NtWaitForAlertByThreadId", "ntdll!RtlAcquireSRWLockShared", "orders_native!work",
                       "P orders_native!work", kProgram})},
      {"address-wait",
       managed_thread({"ntdll!NtWaitForAlertByThreadId", "ntdll!RtlWaitOnAddress", "orders_native!work",
                       "P orders_native!work", kProgram}),
       managed_thread({"ntdll!NtWaitForAlertByThreadId", "orders_native!work", "P orders_native!work", kProgram})},
      {"native-socket-accept", native({kWait, "ws2_32!accept", "orders_native!serve"}),
       native({kWait, "ws2_32!recv", "orders_native!serve"})},
      {"native-socket-receive", native({kWait, "ws2_32!recv", "orders_native!serve"}),
       native({kWait, "ws2_32!send", "orders_native!serve"})},
      {"native-socket-send", native({kWait, "ws2_32!send", "orders_native!serve"}),
       native({kWait, "ws2_32!recvfrom", "orders_native!serve"})},
      {"native-socket-connect", native({kWait, "ws2_32!connect", "orders_native!serve"}),
       native({kWait, "ws2_32!accept", "orders_native!serve"})},
      {"native-pipe", native({"ntdll!NtFsControlFile", "kernelbase!ConnectNamedPipe", "orders_native!serve"}),
       native({"ntdll!NtFsControlFile", "orders_native!serve"})},
      {"native-console-write", native({"ntdll!NtDeviceIoControlFile", "kernelbase!WriteConsoleW", "orders_native!ask"}),
       native({"ntdll!NtDeviceIoControlFile", "kernelbase!ReadConsoleW", "orders_native!ask"})},
      {"native-name-lookup", native({kWait, "dnsapi!", "ws2_32!GetAddrInfoW", "orders_native!serve"}),
       native({kWait, "ws2_32!connect", "orders_native!serve"})},
      {"debug-output", native({kWait, "kernelbase!OutputDebugStringA", "orders_native!log"}),
       native({kWait, "kernelbase!CreateMutexW", "orders_native!log"})},
      {"native-console-read", native({"ntdll!NtDeviceIoControlFile", "kernelbase!ReadConsoleW", "orders_native!ask"}),
       native({"ntdll!NtReadFile", "kernelbase!ReadFile", "orders_native!ask"})},
      {"gc-suspension",
       managed_thread(
           {kWait, "coreclr!Thread::RareDisablePreemptiveGC(void)", "coreclr!JIT_ReversePInvokeExit", kProgram}),
       managed_thread({kWait, "coreclr!Thread::DoAppropriateWait(int)", "coreclr!", kProgram})},
      {"jit", managed_thread({kWait, "coreclr!", "clrjit!", "coreclr!", kProgram}),
       managed_thread({kWait, "coreclr!", "coreclr!", kProgram})},
      {"native-class-constructor",
       managed_thread({kWait, "coreclr!", "coreclr!MethodTable::CheckRunClassInitThrowing(void)", kProgram}),
       managed_thread({kWait, "coreclr!", "coreclr!MethodTable::Allocate(void)", kProgram})},
      {"native-monitor-enter", managed_thread({kWait, "coreclr!AwareLock::EnterEpilogHelper(Thread *)", kProgram}),
       managed_thread({kWait, "coreclr!SyncBlock::Wait(int)", kProgram})},
      {"monitor-enter", in_runtime({enter}), in_runtime({monitor_wait})},
      {"monitor-wait", in_runtime({monitor_wait}), in_runtime({enter})},
      {"wait-handle", in_runtime({wait_one}), in_runtime({"System.Threading.Thread.Join(System.Int32)"})},
      {"sleep", in_runtime({"System.Threading.Thread.Sleep(System.Int32)"}), in_runtime({wait_one})},
      {"join", in_runtime({"System.Threading.Thread.Join(System.Int32)"}), in_runtime({wait_one})},
      {"finalizers-wait", in_runtime({"System.GC.WaitForPendingFinalizers()"}), in_runtime({"System.GC.Collect()"})},
      {"exit", in_runtime({"System.Environment._Exit(System.Int32)"}), in_runtime({"System.GC.Collect()"})},
      {"collect", in_runtime({"System.GC.Collect(System.Int32)"}),
       in_runtime({"System.GC.WaitForPendingFinalizers()"})},
      {"class-constructor", in_runtime({"System.Runtime.CompilerServices.InitHelpers.InitClassSlow(System.IntPtr)"}),
       // The thread runs the constructor, and waits inside it for something else.
       managed_thread({kWait, "coreclr!", "M " + enter, "M Orders.Config..cctor()", "coreclr!",
                       "M System.Runtime.CompilerServices.InitHelpers.InitClassSlow(System.IntPtr)", kProgram})},
      {"pool-worker",
       managed_thread({"ntdll!NtRemoveIoCompletion", "kernelbase!GetQueuedCompletionStatus",
                       "M Interop+Kernel32.GetQueuedCompletionStatus(System.IntPtr)",
                       "M System.Threading.LowLevelLifoSemaphore.WaitForSignal(System.Int32)",
                       "M System.Threading.PortableThreadPool+WorkerThread.WorkerThreadStart()"}),
       pool_thread({kWait, "coreclr!", "M " + enter, kProgram})},
      {"io-poller",
       managed_thread(
           {"ntdll!NtRemoveIoCompletion", "M System.Threading.PortableThreadPool+IOCompletionPoller.Poll()"}),
       managed_thread({kWait, "coreclr!", "M " + wait_one, kProgram})},
      {"managed-file-open",
       interop("ntdll!NtCreateFile", "Microsoft.Win32.SafeHandles.SafeFileHandle.CreateFile(System.String)"),
       interop("ntdll!NtReadFile", "System.IO.RandomAccess.ReadAtOffset(System.Int64)")},
      {"managed-file-read", interop("ntdll!NtReadFile", "System.IO.RandomAccess.ReadAtOffset(System.Int64)"),
       interop("ntdll!NtWriteFile", "System.IO.RandomAccess.WriteAtOffset(System.Int64)")},
      {"managed-file-write", interop("ntdll!NtWriteFile", "System.IO.RandomAccess.WriteAtOffset(System.Int64)"),
       interop("ntdll!NtReadFile", "System.IO.RandomAccess.ReadAtOffset(System.Int64)")},
      {"socket-accept", interop(kWait, "System.Net.Sockets.SocketPal.Accept(System.Int32)"),
       interop(kWait, "System.Net.Sockets.SocketPal.Receive(System.Int32)")},
      {"socket-receive", interop(kWait, "System.Net.Sockets.SocketPal.Receive(System.Int32)"),
       interop(kWait, "System.Net.Sockets.SocketPal.Send(System.Int32)")},
      {"socket-send", interop(kWait, "System.Net.Sockets.SocketPal.Send(System.Int32)"),
       interop(kWait, "System.Net.Sockets.SocketPal.Receive(System.Int32)")},
      {"socket-begin",
       managed_thread({"ntdll!NtDeviceIoControlFile", "ws2_32!WSASend", "M Interop+Winsock.WSASend(System.Int32)",
                       "M System.Net.Sockets.SocketAsyncEventArgs.DoOperationSendSingleBuffer(System.Int32)",
                       kProgram}),
       managed_thread({"ntdll!NtDeviceIoControlFile", "ws2_32!WSASend", "M Interop+Winsock.WSASend(System.Int32)",
                       "M System.Net.Sockets.SocketPal.Send(System.Int32)", kProgram})},
      {"socket-connect", interop(kWait, "System.Net.Sockets.SocketPal.Connect(System.Int32)"),
       interop(kWait, "System.Net.Sockets.SocketPal.Accept(System.Int32)")},
      {"name-lookup", interop(kWait, "System.Net.NameResolutionPal.TryGetAddrInfo(System.String)"),
       interop(kWait, "System.Net.Sockets.SocketPal.Connect(System.Int32)")},
      {"pipe-connect", interop("ntdll!NtFsControlFile", "System.IO.Pipes.NamedPipeServerStream.WaitForConnection()"),
       interop("ntdll!NtReadFile", "System.IO.Pipes.PipeStream.ReadCore(System.Int32)")},
      {"managed-message-loop",
       interop("win32u!NtUserGetMessage", "System.Windows.Threading.Dispatcher.GetMessage(System.IntPtr)"),
       // An STA thread handles messages while it waits for a lock.
       managed_thread({"win32u!NtUserMsgWaitForMultipleObjectsEx", "combase!CoWaitForMultipleHandles", "coreclr!",
                       "M " + enter, kProgram})},
      {"spin-wait", in_runtime({sleep, spin_once, "System.Threading.SpinWait.SpinUntil(System.Func<System.Boolean>)"}),
       in_runtime({sleep})},
      {"spin-lock", in_runtime({sleep, spin_once, "System.Threading.SpinLock.ContinueTryEnter(System.Int32)"}),
       in_runtime({sleep, spin_once})},
      {"cancellation-callback",
       in_runtime({sleep, spin_once,
                   "System.Threading.CancellationTokenSource+Registrations.WaitForCallbackToComplete(System.Int64)",
                   "System.Threading.CancellationTokenRegistration.Dispose()"}),
       in_runtime({enter, "System.Threading.CancellationTokenRegistration.Dispose()"})},
      {"lock-enter", in_runtime({wait_one, "System.Threading.Lock.TryEnterSlow(System.Int32)"}),
       in_runtime({wait_one, "System.Threading.LazyInitializer.EnsureInitialized()"})},
      {"event-slim", in_runtime({monitor_wait, event_slim}), in_runtime({enter, event_slim})},
      {"semaphore-slim", in_runtime({monitor_wait, semaphore}), in_runtime({enter, semaphore})},
      {"countdown", in_runtime({monitor_wait, event_slim, "System.Threading.CountdownEvent.Wait()"}),
       in_runtime({monitor_wait, event_slim})},
      {"barrier", in_runtime({monitor_wait, event_slim, "System.Threading.Barrier.SignalAndWait()"}),
       in_runtime({monitor_wait, event_slim, "System.Threading.CountdownEvent.Wait()"})},
      {"reader-writer-slim",
       in_runtime({wait_one, "System.Threading.ReaderWriterLockSlim.TryEnterReadLockCore(System.Int32)"}),
       in_runtime({enter, "System.Threading.ReaderWriterLockSlim.TryEnterReadLockCore(System.Int32)"})},
      {"reader-writer", in_runtime({wait_one, "System.Threading.ReaderWriterLock.AcquireReaderLock(System.Int32)"}),
       in_runtime({wait_one})},
      {"task-wait",
       in_runtime(
           {monitor_wait, event_slim, task, "System.Threading.Tasks.Task<System.Int32>.GetResultCore(System.Boolean)"}),
       in_runtime({enter, task})},
      {"queue-take",
       in_runtime(
           {monitor_wait, semaphore,
            "System.Collections.Concurrent.BlockingCollection<System.String>."
            "TryTakeWithNoTimeValidation(System.Int32)"}),
       in_runtime(
           {enter,
            "System.Collections.Concurrent.BlockingCollection<System.String>."
            "TryTakeWithNoTimeValidation(System.Int32)"})},
      {"pool-gate", in_runtime({wait_one, "System.Threading.PortableThreadPool+GateThread.GateThreadStart()"}),
       in_runtime({enter, "System.Threading.PortableThreadPool+GateThread.GateThreadStart()"})},
      {"pool-wait", in_runtime({wait_one, "System.Threading.PortableThreadPool+WaitThread.WaitThreadStart()"}),
       in_runtime({enter, "System.Threading.PortableThreadPool+WaitThread.WaitThreadStart()"})},
      {"timer", in_runtime({wait_one, "System.Threading.TimerQueue.TimerThread()"}),
       // The callback of a timer waits.
       managed_thread({kWait, "coreclr!", "M " + enter, "M Orders.Poller.Tick(System.Object)",
                       "M System.Threading.TimerQueue.TimerThread()"})},
      {"console-read",
       interop("ntdll!NtReadFile", "System.ConsolePal+WindowsConsoleStream.ReadFileNative(System.IntPtr)"),
       // The thread waits for another thread that reads.
       in_runtime({enter, "System.IO.SyncTextReader.ReadLine()", "System.Console.ReadLine()"})},
      {"console-write",
       managed_thread({"ntdll!NtWriteFile", "M " + write_file,
                       "M System.ConsolePal+WindowsConsoleStream.WriteFileNative(System.IntPtr)", kProgram}),
       in_runtime({enter, "System.IO.SyncTextWriter.WriteLine(System.String)"})},
      {"pipe-read",
       managed_thread({"ntdll!NtReadFile", "M " + read_file,
                       "M System.IO.Pipes.PipeStream.ReadCore(System.Span<System.Byte>)", kProgram}),
       managed_thread({"ntdll!NtReadFile", "M " + read_file, "M System.IO.FileStream.Read(System.Byte[])", kProgram})},
      {"pipe-write",
       managed_thread({"ntdll!NtWriteFile", "M " + write_file,
                       "M System.IO.Pipes.PipeStream.WriteCore(System.Span<System.Byte>)", kProgram}),
       managed_thread(
           {"ntdll!NtWriteFile", "M " + write_file, "M System.IO.FileStream.Write(System.Byte[])", kProgram})},
      {"process-wait", in_runtime({wait_one, "System.Diagnostics.Process.WaitForExitCore(System.Int32)"}),
       in_runtime({wait_one})},
      {"process-output",
       in_runtime({monitor_wait, event_slim, task, "System.Runtime.CompilerServices.TaskAwaiter.GetResult()",
                   "System.Diagnostics.Process.WaitForExitCore(System.Int32)"}),
       in_runtime({wait_one, "System.Diagnostics.Process.WaitForExitCore(System.Int32)"})},
      {"queue-add",
       in_runtime({monitor_wait, semaphore,
                   "System.Collections.Concurrent.BlockingCollection<System.String>."
                   "TryAddWithNoTimeValidation(System.String, System.Int32, System.Threading.CancellationToken)"}),
       in_runtime({monitor_wait, semaphore})},
      {"pool-task-wait",
       pool_thread({kWait, "coreclr!", "M " + monitor_wait, "M " + event_slim, "M " + task, kProgram}),
       in_runtime({monitor_wait, event_slim, task})},
      {"main-wait", main_thread({kWait, "coreclr!", "M " + monitor_wait, "M " + event_slim, "M " + task}),
       // Main has called a method that waits.
       main_thread({kWait, "coreclr!", "M " + monitor_wait, "M " + event_slim, "M " + task, kProgram})},
      {"native-call",
       managed_thread(
           {kWait, "kernelbase!WaitForSingleObject", "orders_native!work", "P orders_native!work", kProgram}),
       managed_thread({"orders_native!work", "P orders_native!work", kProgram})},
      {"com-call", managed_thread({kWait, "orders_native!submit", "C Orders.IOrders.Submit()", kProgram}),
       managed_thread({kWait, "orders_native!submit", "P orders_native!submit", kProgram})},
      {"alert-wait", native({"ntdll!NtWaitForAlertByThreadId", "ntdll!sub_9", "orders_native!worker"}),
       native({"ntdll!NtWaitForAlertByThreadId", "ntdll!RtlWaitOnAddress", "orders_native!worker"})},
      {"native-wait", native({kWait, "kernelbase!WaitForSingleObject", "orders_native!worker"}),
       native({"orders_native!worker"})},
      {"library-wait", in_runtime({"System.Data.Foo.Bar()"}), in_runtime({})},
      {"finalizer", native({kWait, "kernelbase!WaitForMultipleObjectsEx", "coreclr!", "coreclr!"}),
       native({kWait, "orders_native!worker", "coreclr!"}), ".NET Finalizer"},
      {"runtime-helper", native({kWait, "kernelbase!WaitForMultipleObjectsEx", "coreclr!", "coreclr!"}),
       native({kWait, "orders_native!worker", "coreclr!"})},
      {"system-helper", native({kWait, "kernelbase!WaitForSingleObject", "rpcrt4!Server"}),
       native({kWait, "ntdll!RtlEnterCriticalSection", "rpcrt4!Server"})},
      {"runtime-wait", in_runtime({}), in_runtime({enter})},
  };
  return kCases;
}

TEST(WaitsTest, EachRuleFiresWhereItShould) {
  for (const RuleCase& of : cases()) EXPECT_EQ(wait(of.with, of.name).rule, of.rule);
}

// The runtime may hold the thread until a collection ends.
TEST(WaitsTest, AWaitOfTheRuntimeItselfBelowDotNetProvesNothing) {
  EXPECT_EQ(wait(in_runtime({"System.Data.Foo.Bar()"})).state, WaitState::unknown);
  EXPECT_EQ(wait(managed_thread({kWait, "kernelbase!WaitForSingleObject", "M System.Data.Foo.Bar()", kProgram})).state,
            WaitState::signal);
}

// A thread that spins also runs, and gives up the rest of its time.
TEST(WaitsTest, AThreadThatSpinsWaitsAlsoWhereItRuns) {
  const std::vector<std::string> spins = {"M System.Threading.SpinWait.SpinOnceCore(System.Int32)",
                                          "M System.Threading.SpinLock.ContinueTryEnter(System.Int32)", kProgram};
  const std::string spin = "M System.Threading.Thread.SpinWait(System.Int32)";
  for (const std::string& leaf : {std::string("ntdll!NtYieldExecution"), std::string("coreclr!"), spin}) {
    Frames frames = {leaf};
    frames.insert(frames.end(), spins.begin(), spins.end());
    EXPECT_EQ(wait(managed_thread(frames)).rule, "spin-lock") << leaf;
    EXPECT_EQ(wait(managed_thread({leaf, kProgram})).state, WaitState::runs) << leaf;
  }
  EXPECT_EQ(wait(managed_thread(spins)).rule, "spin-lock");
}

TEST(WaitsTest, NoRuleFiresWhereItShouldNot) {
  for (const RuleCase& of : cases()) EXPECT_NE(wait(of.without, of.name).rule, of.rule) << of.rule;
}

// If a case had no stack, no rule would match it, and it would prove nothing.
TEST(WaitsTest, EachCaseHasAStackForBoth) {
  for (const RuleCase& of : cases()) {
    EXPECT_FALSE(of.with.empty()) << of.rule;
    EXPECT_FALSE(of.without.empty()) << of.rule;
    EXPECT_NE(of.with, of.without) << of.rule;
  }
}

// Returns a name that matches the pattern. A pattern has no '*' except at its end; if it has one, the name is longer
// than the pattern.
std::string name_of(std::string_view pattern) {
  const bool open = pattern.ends_with('*');
  if (open) pattern.remove_suffix(1);
  EXPECT_EQ(pattern.find('*'), std::string_view::npos) << pattern;
  return std::string(pattern) + (open ? "x" : "");
}

// Returns a stack whose kind of wait only that name shows.
Frames with_native(const WaitRule& rule, std::string name) {
  if (name.starts_with("@")) name = "coreclr" + name.substr(1);
  const bool makes_call = name.starts_with("ntdll!") || name.starts_with("win32u!");
  if (rule.layer == WaitLayer::call && makes_call) return native_thread({name, "gap"});
  // A rule of the layer `call` does not look beyond a system call that has a name, so for it the call has none.
  return native_thread({rule.layer == WaitLayer::call ? "ntdll!" : kWait, name, "gap"});
}

// Returns the methods below the method of the rule, for a rule that needs them.
std::vector<std::string> methods_below(const WaitRule& rule) {
  if (rule.layer != WaitLayer::wrapper) return {};
  const WaitRule* const inner = find_wait_rule(rule.around[0]);
  std::vector<std::string> methods = methods_below(*inner);
  methods.push_back(name_of(inner->methods[0]) + "()");
  return methods;
}

Frames with_method(const WaitRule& rule, const std::string& method) {
  std::vector<std::string> methods = methods_below(rule);
  methods.push_back(method + "()");
  return in_runtime(methods);
}

// If a name of the table leads to another rule, or to none, it is misspelt, or an earlier rule matches it.
TEST(WaitsTest, EachNameOfTheTableLeadsToItsRule) {
  for (const WaitRule& rule : wait_rules()) {
    for (const std::string_view native : rule.natives) {
      if (native.empty()) continue;
      EXPECT_EQ(wait(with_native(rule, name_of(native))).rule, rule.key) << native;
    }
    for (const std::string_view method : rule.methods) {
      if (method.empty()) continue;
      EXPECT_EQ(wait(with_method(rule, name_of(method))).rule, rule.key) << method;
    }
  }
}

TEST(WaitsTest, ANameThatOnlyBeginsLikeOneOfTheTableIsNoneOfIts) {
  for (const WaitRule& rule : wait_rules()) {
    for (const std::string_view native : rule.natives) {
      if (native.empty() || native.ends_with('*')) continue;
      EXPECT_NE(wait(with_native(rule, std::string(native) + "Later")).rule, rule.key) << native;
    }
    for (const std::string_view method : rule.methods) {
      if (method.empty() || method.ends_with('*')) continue;
      EXPECT_NE(wait(with_method(rule, std::string(method) + "Later")).rule, rule.key) << method;
    }
  }
}

// Code of the program may have the same names as functions of the system and methods of .NET.
TEST(WaitsTest, ANameOfTheTableInTheProgramIsNoneOfIts) {
  for (const WaitRule& rule : wait_rules()) {
    for (const std::string_view native : rule.natives) {
      const std::size_t at = native.find('!');
      if (native.empty()) continue;
      const Frames frames = {"ntdll!", "orders_native" + name_of(native.substr(at)), "gap"};
      EXPECT_NE(wait(native_thread(frames)).rule, rule.key) << native;
    }
    for (const std::string_view method : rule.methods) {
      if (method.empty()) continue;
      EXPECT_NE(wait(in_runtime({"Orders." + name_of(method) + "()"})).rule, rule.key) << method;
    }
  }
}

TEST(WaitsTest, EachRuleHasACase) {
  std::multiset<std::string> with_case;
  for (const RuleCase& of : cases()) with_case.insert(of.rule);
  with_case.insert("task-delay");  // the dump's tasks show this wait (task_findings_test)
  for (const WaitRule& rule : wait_rules()) EXPECT_EQ(with_case.count(std::string(rule.key)), 1u) << rule.key;
  EXPECT_EQ(with_case.size(), wait_rules().size());
}

TEST(WaitsTest, WordsAndStandingAreThoseOfTheTable) {
  const Wait found = wait(in_runtime({"System.Threading.Monitor.Enter(System.Object)"}));
  EXPECT_EQ(found.words, "waits to enter a monitor (lock)");
  EXPECT_EQ(found.state, WaitState::blocked);
  EXPECT_EQ(found.frame, 4u);
  EXPECT_EQ(found.program, 5u);
}

TEST(WaitsTest, WithoutNativeNamesTheMethodsTell) {
  const Wait found = wait(managed_thread({"ntdll!", "kernelbase!", "coreclr!",
                                          "M System.Threading.Monitor.Enter(System.Object)", kProgram}));
  EXPECT_EQ(found.rule, "monitor-enter");
}

TEST(WaitsTest, WithoutNativeFramesTheMethodsTell) {
  Frames frames = managed_thread({"M System.Threading.Monitor.Enter(System.Object)", kProgram});
  HangBuilder builder;
  builder.thread(0x10, frames);
  builder.last().stack.frames[0].address_kind = AddressKind::return_address;
  EXPECT_EQ(wait_of(FrameNames(builder.snapshot()), builder.last()).rule, "monitor-enter");
}

TEST(WaitsTest, WithoutNativeNamesWhatThePInvokeDeclaresTells) {
  EXPECT_EQ(wait(managed_thread({"ntdll!", "ws2_32!", "P WS2_32.dll!recv", kProgram})).rule, "native-socket-receive");
  EXPECT_EQ(wait(managed_thread({"ntdll!", "kernel32!", "P kernel32!Sleep", kProgram})).rule, "native-sleep");
}

// Before a worker of the pool waits for work, it looks for work a few times, and sleeps for a time of zero in between.
TEST(WaitsTest, AWorkerThatStillLooksForWorkIsIdle) {
  const Wait found = wait(
      managed_thread({"ntdll!NtDelayExecution", "kernelbase!Sleep", "M System.Threading.Thread.UninterruptibleSleep0()",
                      "M System.Threading.LowLevelSpinWaiter.Wait(System.Int32, System.Int32, System.Boolean)",
                      "M System.Threading.LowLevelLifoSemaphore.Wait(System.Int32, System.Boolean)",
                      "M System.Threading.PortableThreadPool+WorkerThread.WorkerThreadStart()"}));
  EXPECT_EQ(found.rule, "pool-worker");
  EXPECT_EQ(found.state, WaitState::idle);
}

// Only the system's code is above the call, and the call declares for what it waits.
TEST(WaitsTest, TheProgramsOwnCallOfASleepOrAWaitIsNoUnknownNativeCode) {
  const Wait sleep =
      wait(managed_thread({"ntdll!NtDelayExecution", "kernelbase!SleepEx", "P kernel32!SleepEx", kProgram}));
  EXPECT_EQ(sleep.state, WaitState::outside);
  EXPECT_EQ(sleep.words, "sleeps, in the P/Invoke kernel32!SleepEx");
  const Wait object =
      wait(managed_thread({kWait, "kernelbase!WaitForMultipleObjectsEx", "kernelbase!WaitForMultipleObjects",
                           "P KERNEL32.dll!WaitForMultipleObjects", kProgram}));
  EXPECT_EQ(object.state, WaitState::signal);
  EXPECT_EQ(object.words, "waits for an object of the system, in the P/Invoke KERNEL32.dll!WaitForMultipleObjects");
  // A sleep ends by itself, whoever has called it.
  const Wait native = wait(managed_thread({"ntdll!NtDelayExecution", "kernelbase!Sleep", "orders_native!poll",
                                           "P orders_native!poll", kProgram}));
  EXPECT_EQ(native.state, WaitState::outside);
  EXPECT_EQ(native.words, "sleeps, in the P/Invoke orders_native!poll");
  EXPECT_EQ(wait(managed_thread({kWait, "kernelbase!WaitForSingleObject", "rpcrt4!", "P rpcrt4!NdrClientCall3",
                                 kProgram})).state, WaitState::calls);
}

TEST(WaitsTest, ANativeLockIsNotHiddenByTheMethodThatCameToIt) {
  const Wait found = wait(managed_thread({kWait, "ntdll!RtlEnterCriticalSection", "coreclr!",
                                          "M System.Threading.Monitor.Enter(System.Object)", kProgram}));
  EXPECT_EQ(found.rule, "critical-section");
}

// The runtime runs a static constructor inside a critical section.
TEST(WaitsTest, TheLockOfAStaticConstructorIsAWaitForThat) {
  const auto rule = [](const std::string& caller) {
    return wait(managed_thread({kWait, "ntdll!RtlEnterCriticalSection", "coreclr!", caller, kProgram})).rule;
  };
  EXPECT_EQ(rule("M System.Runtime.CompilerServices.InitHelpers.InitClassSlow(System.IntPtr)"), "class-constructor");
  EXPECT_EQ(rule("coreclr!MethodTable::CheckRunClassInitThrowing(void)"), "native-class-constructor");
  EXPECT_EQ(rule("coreclr!MethodTable::Allocate(void)"), "critical-section");
}

// Wine's locks and condition variables wait on addresses.
TEST(WaitsTest, ALockThatWaitsOnAnAddressIsALock) {
  const auto rule = [](const std::string& function) {
    return wait(native_thread(
                    {"ntdll!NtWaitForAlertByThreadId", "ntdll!RtlWaitOnAddress", function, "orders_native!work"}))
        .rule;
  };
  EXPECT_EQ(rule("ntdll!RtlEnterCriticalSection"), "critical-section");
  EXPECT_EQ(rule("ntdll!RtlAcquireSRWLockExclusive"), "srw-lock");
  EXPECT_EQ(rule("ntdll!RtlSleepConditionVariableCS"), "native-wait");
  EXPECT_EQ(rule("ntdll!RtlRunOnceBeginInitialize"), "native-wait");
  EXPECT_EQ(wait(managed_thread({"ntdll!NtWaitForAlertByThreadId", "ntdll!RtlWaitOnAddress",
                                 "ntdll!RtlSleepConditionVariableCS", "orders_native!work", "P orders_native!work",
                                 kProgram}))
                .rule,
            "condition-variable");
}

// Folklore: Wine's RtlpWaitForCriticalSection waits for five seconds, and afterwards at another place.
TEST(WaitsTest, AWaitIsKnownByItsOutermostFunction) {
  EXPECT_EQ(wait(native_thread({kWait, "ntdll!RtlpWaitForCriticalSection", "ntdll!RtlEnterCriticalSection",
                                "orders_native!work"})).frame, 2u);
  EXPECT_EQ(wait(native_thread({kWait, "ntdll!RtlpWaitForCriticalSection", "ntdll!RtlSomething",
                                "ntdll!RtlEnterCriticalSection", "orders_native!work"})).frame, 1u);
}

TEST(WaitsTest, ALockBelowAPInvokeNamesThatCall) {
  const Wait found = wait(managed_thread({kWait, "ntdll!RtlEnterCriticalSection", "orders_native!submit",
                                          "P orders_native!submit", kProgram}));
  EXPECT_EQ(found.rule, "critical-section");
  EXPECT_EQ(found.words, "waits to enter a critical section, in the P/Invoke orders_native!submit");
}

TEST(WaitsTest, ACallOutNamesItsTargetAndCountsFrames) {
  const Wait found = wait(managed_thread({kWait, "kernelbase!WaitForSingleObject", "orders_native!submit",
                                          "P orders_native!submit", kProgram}));
  EXPECT_EQ(found.words,
            "waits in native code: orders_native.dll!submit, called by the P/Invoke orders_native!submit (3 native "
            "frames)");
  EXPECT_EQ(found.state, WaitState::calls);
}

TEST(WaitsTest, AComCallIntoAnotherApartmentIsBlocked) {
  const Wait found =
      wait(managed_thread({kWait, "combase!", "combase!", "C Orders.IOrders.Submit(System.Int32)", kProgram}));
  EXPECT_EQ(found.words, "waits for the COM call Orders.IOrders.Submit(int) into another apartment or process");
  EXPECT_EQ(found.state, WaitState::blocked);
}

// The caller is itself a thread of an apartment, and handles messages until the answer comes.
TEST(WaitsTest, AComCallThatHandlesMessagesMeanwhileIsBlockedToo) {
  const Wait found =
      wait(managed_thread({"win32u!NtUserMsgWaitForMultipleObjectsEx", "user32!MsgWaitForMultipleObjectsEx", "combase!",
                           "rpcrt4!", "C Orders.IOrders.Submit()", kProgram}));
  EXPECT_EQ(found.rule, "com-call");
  EXPECT_EQ(found.words, "waits for the COM call Orders.IOrders.Submit() into another apartment or process");
  EXPECT_EQ(found.state, WaitState::blocked);
}

// A dialog is open and waits for a person.
TEST(WaitsTest, AComObjectThatHandlesMessagesIsInNoOtherApartment) {
  const std::vector<std::string> dialog = {"win32u!NtUserGetMessage", "user32!GetMessageW", "shell32!show_dialog"};
  for (const char* call : {"C Orders.IOrders.Submit()", "M System.RuntimeType.InvokeDispMethod(System.String)"}) {
    std::vector<std::string> frames = dialog;
    frames.insert(frames.end(), {call, kProgram});
    const Wait found = wait(managed_thread(frames));
    EXPECT_EQ(found.rule, "message-loop") << call;
    EXPECT_EQ(found.state, WaitState::idle) << call;
  }
}

TEST(WaitsTest, AComCallThatHandlesMessagesMeanwhileIsBlocked) {
  const Wait found = wait(managed_thread({"win32u!NtUserGetMessage", "user32!GetMessageW", "combase!",
                                          "C Orders.IOrders.Submit()", kProgram}));
  EXPECT_EQ(found.rule, "com-call");
  EXPECT_EQ(found.state, WaitState::blocked);
}

TEST(WaitsTest, ALateBoundComCallIntoAnotherApartmentIsBlocked) {
  const std::string invoke = "M System.RuntimeType.InvokeDispMethod(System.String, System.Reflection.BindingFlags)";
  const Wait found = wait(managed_thread({kWait, "rpcrt4!", "combase!", "coreclr!", invoke, kProgram}));
  EXPECT_EQ(found.words, "waits for a COM call into another apartment or process");
  EXPECT_EQ(found.state, WaitState::blocked);
  // A call that the runtime makes for another method of .NET.
  EXPECT_EQ(wait(managed_thread({kWait, "rpcrt4!", "combase!", "coreclr!", "M System.Data.Foo.Bar()", kProgram})).rule,
            "com-call");
}

TEST(WaitsTest, APInvokeWhoseTargetIsUnknownIsOneOfThem) {
  EXPECT_EQ(wait(managed_thread({kWait, "orders_native!submit", "P ", kProgram})).words,
            "waits in native code: orders_native.dll!submit, called by a P/Invoke (2 native frames)");
}

TEST(WaitsTest, AComCallThatWaitsForALockSaysSo) {
  const Wait found =
      wait(managed_thread({kWait, "ntdll!RtlEnterCriticalSection", "combase!", "C Orders.IOrders.Submit()", kProgram}));
  EXPECT_EQ(found.rule, "critical-section");
  EXPECT_EQ(found.words, "waits to enter a critical section, in the COM call Orders.IOrders.Submit()");
}

TEST(WaitsTest, ARunningThreadWaitsForNothing) {
  EXPECT_EQ(wait(managed_thread({"M System.Threading.Monitor.Enter(System.Object)", kProgram})).state, WaitState::runs);
  EXPECT_EQ(wait(managed_thread({"ntdll!NtYieldExecution", "coreclr!", "M System.Threading.Thread.Yield()",
                                 kProgram})).state, WaitState::runs);
}

TEST(WaitsTest, NoStackIsUnknown) {
  const Wait none = wait({});
  EXPECT_EQ(none.state, WaitState::unknown);
  EXPECT_EQ(none.words, "");
}

TEST(WaitsTest, AThousandMethodsOfTheLibraryAreNotSearchedForAWait) {
  Frames frames = {kWait, "coreclr!"};
  for (int i = 0; i < 1000; ++i) frames.push_back("M System.Foo.Bar()");
  frames.push_back("M System.Threading.Tasks.Task.Wait()");
  EXPECT_EQ(wait(frames).rule, "library-wait");
}

TEST(WaitsTest, LongNamesAreClipped) {
  const Wait found = wait(managed_thread({kWait, "P orders!" + std::string(65536, 'x'), kProgram}));
  EXPECT_LT(found.words.size(), 1000u);
}

// Real cases: a library is mapped slowly, since software that looks for viruses reads it first; a heap gets memory.
// The threads waited "for the loader lock" and "for the lock of a heap".
TEST(WaitsTest, AnotherSystemCallBelowAFunctionThatLocksIsNoWaitForTheLock) {
  const std::string load = "ntdll!LdrLoadDll", library = "kernelbase!LoadLibraryExW",
                    allocate = "ntdll!RtlAllocateHeap";
  const auto rule = [](std::vector<std::string> frames) { return wait(native_thread(std::move(frames))).rule; };
  EXPECT_EQ(rule({"ntdll!NtCreateSection", "ntdll!sub_1", load, library, "orders_native!get"}), "system-call");
  EXPECT_EQ(rule({"ntdll!NtAllocateVirtualMemory", allocate, "orders_native!get"}), "system-call");
  EXPECT_EQ(rule({"ntdll!NtSetEvent", "ntdll!RtlEnterCriticalSection", "orders_native!get"}), "system-call");
  EXPECT_EQ(rule({"ntdll!NtWaitForAlertByThreadId", allocate, "orders_native!get"}), "heap");
  const Wait managed = wait(managed_thread(
      {"ntdll!NtMapViewOfSection", load, library, "P kernel32!LoadLibraryW", "M Orders.Load()"}));
  EXPECT_EQ(managed.rule, "system-call");
}

// The function itself runs. Only behind a system call it waits.
TEST(WaitsTest, AFunctionThatLocksAndIsTheLeafRuns) {
  for (const std::string function : {"RtlAllocateHeap", "RtlEnterCriticalSection", "RtlAcquireSRWLockExclusive",
                                     "LdrGetProcedureAddressForCaller"}) {
    EXPECT_EQ(wait(native_thread({"ntdll!" + function, "orders_native!get"})).state, WaitState::runs) << function;
  }
}

// The loader's own frames lead to the lock. A function that the loader has called holds the lock, and waits for
// something else.
TEST(WaitsTest, TheLoaderLockIsWhatTheLoaderItselfWaitsFor) {
  const std::string enter = "ntdll!RtlEnterCriticalSection", load = "ntdll!LdrLoadDll",
                    library = "kernelbase!LoadLibraryExW";
  const auto rule = [](std::vector<std::string> frames) { return wait(native_thread(std::move(frames))).rule; };
  EXPECT_EQ(rule({kWait, enter, load, library, "orders_native!get"}), "loader-lock");
  EXPECT_EQ(rule({kWait, enter, "ntdll!LdrShutdownThread", "kernelbase!ExitThread"}), "loader-lock");
  EXPECT_EQ(rule({kWait, enter, "ntdll!", library, "orders_native!get"}), "loader-lock");
  EXPECT_EQ(rule({kWait, "ntdll!LdrpDrainWorkQueue", load, library}), "loader-lock");
  EXPECT_EQ(wait(managed_thread({kWait, enter, load, library, "P kernel32!LoadLibraryW", "M Orders.Load()"})).rule,
            "loader-lock");
  // This is DllMain of one of the system's DLLs.
  EXPECT_EQ(rule({kWait, enter, "combase!", "ntdll!LdrpCallInitRoutine", load, library}), "critical-section");
  EXPECT_EQ(rule({"ntdll!NtReadFile", "kernelbase!ReadFile", "ntdll!LdrpMapDll", load, library}), "file-read");
  EXPECT_EQ(rule({kWait, enter, "orders_native!get"}), "critical-section");
  // Here, DllMain of one of the program's own DLLs waits.
  EXPECT_NE(rule({kWait, "orders_native!DllMain", "ntdll!LdrpCallInitRoutine", load, library}), "loader-lock");
}

// Methods of the program end the search, whatever the names of their namespaces are.
TEST(WaitsTest, AProgramThatIsCalledLikeDotNet) {
  const auto of = [](std::vector<std::string> frames, const std::string& path) {
    HangBuilder builder;
    builder.thread(1, frames);
    builder.snapshot().assemblies = {{.path = path}};
    for (Frame& frame : builder.last().stack.frames) {
      if (frame.name.starts_with("Microsoft.Orders.")) frame.il.assembly = 0;
    }
    return wait_of(FrameNames(builder.snapshot()), builder.last());
  };
  const std::string program = "C:\\orders\\Microsoft.Orders.dll", dotnet = "C:\\orders\\System.Orders.dll";
  const std::vector<std::string> gate = managed_thread(
      {"ntdll!NtWaitForMultipleObjects", "coreclr!", "M System.Threading.Monitor.Wait(System.Object)",
       "M Microsoft.Orders.Gate.Pass()", "M System.Threading.Tasks.Task.InternalWait(System.Int32)", "M Orders.Run()"});
  EXPECT_EQ(of(gate, program).rule, "monitor-wait");
  EXPECT_EQ(of(gate, program).program, 3u);
  EXPECT_EQ(of(gate, dotnet).rule, "task-wait");
  EXPECT_EQ(of(gate, dotnet).program, 5u);
  const std::vector<std::string> main = {"ntdll!NtWaitForMultipleObjects", "coreclr!",
                                         "M System.Threading.WaitHandle.WaitOne()",
                                         "M Microsoft.Orders.Program.Main(System.String[])", "coreclr!",
                                         "kernel32!BaseThreadInitThunk", "ntdll!RtlUserThreadStart"};
  EXPECT_EQ(of(main, program).rule, "main-wait");
  EXPECT_EQ(of(main, dotnet).rule, "wait-handle");
}

}  // namespace
}  // namespace mixwalk
