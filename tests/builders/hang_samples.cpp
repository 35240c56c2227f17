#include "tests/builders/hang_samples.h"

#include "tests/builders/hang_builder.h"

namespace mixwalk::test {
namespace {

using Frames = std::vector<std::string>;

constexpr std::uint64_t kFirst = 1'795'412'335'000, kStep = 10'000;
const std::string kWait = "ntdll!NtWaitForMultipleObjects";

HangBuilder dump(std::size_t number) { return HangBuilder(kFirst + number * kStep); }

Frames enters(const std::string& method) {
  return managed_thread({kWait, "coreclr!", "M System.Threading.Monitor.Enter_Slowpath(System.Object)", "M " + method});
}

Frames idle_worker() {
  return managed_thread({"ntdll!NtRemoveIoCompletion", "kernelbase!GetQueuedCompletionStatus",
                         "M System.Threading.LowLevelLifoSemaphore.WaitForSignal(System.Int32)",
                         "M System.Threading.PortableThreadPool+WorkerThread.WorkerThreadStart()"});
}

Frames console() {
  return main_thread({"ntdll!NtReadFile", "kernelbase!ReadFile",
                      "M System.ConsolePal+WindowsConsoleStream.Read(System.Span<System.Byte>)",
                      "M System.Console.ReadLine()"});
}

void add_idle(HangBuilder& builder) {
  builder.thread(0x100, console()).cpu(30);
  builder.thread(0x104, native_thread({kWait, "kernelbase!WaitForMultipleObjectsEx", "coreclr!"}), ".NET Finalizer")
      .cpu(0);
  for (std::uint32_t id = 0x108; id < 0x118; id += 4) builder.thread(id, idle_worker(), ".NET TP Worker").cpu(4);
}

}  // namespace

std::vector<Snapshot> deadlocked_program() {
  std::vector<Snapshot> dumps;
  for (std::size_t i = 0; i < 3; ++i) {
    HangBuilder builder = dump(i);
    add_idle(builder);
    builder.thread(0x200, enters("Orders.Stock.Reserve(Orders.Order)"), "orders").cpu(120);
    builder.thread(0x204, enters("Orders.Billing.Charge(Orders.Order)"), "billing").cpu(80);
    for (std::uint32_t id = 0x208; id < 0x214; id += 4) {
      builder.thread(id, enters("Orders.Web.Submit(System.String)"), "request").cpu(10);
    }
    builder.monitor(0x1f40, 0x200, {0x204, 0x208, 0x20c})
        .monitor(0x1f80, 0x204, {0x200})
        .monitor(0x1fc0, 0x20c, {0x210});
    dumps.push_back(builder.snapshot());
  }
  return dumps;
}

std::vector<Snapshot> troubled_program() {
  std::vector<Snapshot> dumps;
  for (std::size_t i = 0; i < 2; ++i) {
    HangBuilder builder = dump(i);
    builder.thread(0x100, console()).cpu(30);
    builder
        .thread(0x200,
                managed_thread({kWait, "kernelbase!WaitForSingleObject", "orders_native!wait_for_reply",
                                "P orders_native!wait_for_reply", "M Orders.Client.Fetch()"}),
                "client")
        .cpu(7);
    builder.thread(0x204, enters("Orders.Client.Count()"), "counter").cpu(8);
    builder.thread(0x208, enters("Orders.Client.Count()"), "counter").cpu(8);
    builder.monitor(0x1f40, 0x200, {0x204, 0x208});
    for (std::uint32_t id = 0x300; id < 0x310; id += 4) {
      builder.thread(id, pool_thread({kWait, "coreclr!", "M System.Threading.Monitor.Wait(System.Object, System.Int32)",
                                      "M System.Threading.ManualResetEventSlim.Wait(System.Int32)",
                                      "M System.Threading.Tasks.Task.InternalWait(System.Int32)",
                                      "M Orders.Web.Handle(Orders.Request)"}), ".NET TP Worker").cpu(15);
    }
    builder
        .thread(0x400, managed_thread({"orders_native!crunch", "P orders_native!crunch", "M Orders.Report.Run()"}),
                "report")
        .cpu(100 + i * 9'900);
    for (std::uint32_t id = 0x500; id < 0x520; id += 4) {
      builder
          .thread(id,
                  managed_thread({kWait, "orders_native!print", "P orders_native!print", "M Orders.Printer.Print()"}),
                  "printer")
          .cpu(3);
    }
    builder
        .thread(0x600,
                managed_thread({kWait, "coreclr!", "M System.Threading.WaitHandle.WaitOneNoCheck(System.Int32)",
                                "M System.Threading.Lock.TryEnterSlow(System.Int32)", "M System.Threading.Lock.Enter()",
                                "M Orders.Log.Write(System.String)"}),
                "log")
        .cpu(2);
    dumps.push_back(builder.snapshot());
  }
  return dumps;
}

std::vector<Snapshot> healthy_program() {
  std::vector<Snapshot> dumps;
  for (std::size_t i = 0; i < 2; ++i) {
    HangBuilder builder = dump(i);
    add_idle(builder);
    builder
        .thread(0x200,
                managed_thread({i == 0 ? "orders_native!parse" : "orders_native!format", "M Orders.Worker.Step()"}),
                "worker")
        .cpu(500 + i * 300);
    builder.thread(0x204, enters("Orders.Worker.Step()"), "worker").cpu(400);
    builder.thread(0x208, enters("Orders.Worker.Step()"), "worker").cpu(400 + i * 50);
    builder.monitor(0x1f40, 0x200, {0x204, 0x208});
    builder.thread(0x20c, managed_thread({kWait, "ws2_32!accept", "M System.Net.Sockets.SocketPal.Accept(System.Int32)",
                                          "M Orders.Listener.Run()"}), "listener").cpu(1);
    builder
        .thread(0x210,
                managed_thread({"ntdll!NtDelayExecution", "coreclr!", "M System.Threading.Thread.Sleep(System.Int32)",
                                "M Orders.Poller.Run()"}),
                "poller")
        .cpu(1);
    builder
        .thread(0x214,
                managed_thread({kWait, "coreclr!", "M System.Threading.WaitHandle.WaitOne()", "M Orders.Queue.Run()"}),
                "queue")
        .cpu(1);
    dumps.push_back(builder.snapshot());
  }
  return dumps;
}

Snapshot crashed_program() {
  HangBuilder builder = dump(0);
  const std::vector<std::string> waits = {kWait, "coreclr!", "M System.Threading.WaitHandle.WaitOne()",
                                          "M Orders.Queue.Run()"};
  builder.thread(0x200, managed_thread(waits), "queue");
  builder.thread(0x204, managed_thread({"ntdll!memset", "orders_native!parse", "P orders_native!parse",
                                        "M Orders.Parser.Parse(System.String)"}), "parser");
  Snapshot& snapshot = builder.snapshot();
  snapshot.capture = CaptureMethod::file;
  snapshot.crash =
      Crash{.thread = 0x204,
            .code = 0xC0000005,
            .address = snapshot.threads.back().stack.frames.front().address,
            .access = CrashAccess::write,
            .objects = {{.type = "Orders.Failed", .message = "no stock", .trace = {"Orders.Parser.Parse()"}},
                        {.type = "System.IO.IOException", .message = "", .trace = {}}}};
  return snapshot;
}

std::vector<Snapshot> hostile_program() {
  HangBuilder builder = dump(0);
  const std::string evil = "<script>alert(1)</script>\"; DROP\n\x1b[31m \u202Ereversed \xff";
  builder.snapshot().process.path = "C:\\" + evil + "\\a.exe";
  builder.thread(0x200, enters("Orders." + evil + ".Reserve()"), evil);
  builder.thread(0x204, enters("Orders." + std::string(65536, 'x') + ".Charge()"), std::string(65536, 'y'));
  builder.monitor(0x1f40, 0x200, {0x204}).monitor(0x1f80, 0x204, {0x200});
  for (Lock& lock : builder.snapshot().locks) lock.type = evil;
  builder.snapshot().locks_missing = evil;
  builder.snapshot().crash = Crash{.thread = 0x999, .code = 0xE0434352, .address = 7, .objects = {}};
  builder.snapshot().crash->objects = {{.type = evil, .message = evil, .trace = {evil}}};
  return {builder.snapshot()};
}

}  // namespace mixwalk::test
