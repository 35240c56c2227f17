#include "tests/builders/snapshot_builder.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kNtdll = 0x1'7000'0000, kOrders = 0x2'1800'0000;

StackFrame native(std::uint64_t address, std::int32_t module, std::string name, std::uint64_t displacement,
                  Trust trust = Trust::unwind_info) {
  return {{.kind = FrameKind::native, .trust = trust, .address_kind = AddressKind::return_address,
           .address = address, .module = module, .name = name,
           .symbol = name.empty() ? SymbolKind::none : SymbolKind::exported, .displacement = displacement},
          0x10'0000};
}

StackFrame managed(std::string name) {
  return {{.kind = FrameKind::managed, .trust = Trust::runtime, .address_kind = AddressKind::return_address,
           .address = 0x6800'1000, .function = 0x681c'0d20, .name = std::move(name)},
          0x10'0100};
}

Thread whole_thread() {
  Thread thread{.os_id = 0x1a4, .clr_id = 0xc1'3a50, .name = "Orders worker"};
  thread.frozen_ns = 152'000;
  thread.stopping_ns = 2'000;
  Stack& stack = thread.stack;
  stack.engine = Engine::snapshot;
  stack.frames.push_back(native(kNtdll + 0x1014, 0, "NtWaitForSingleObject", 0x14,
                                Trust::context));
  stack.frames.back().address_kind = AddressKind::instruction_pointer;
  stack.frames.push_back(native(kOrders + 0x102c, 1, "", 0));
  stack.frames.push_back({{.kind = FrameKind::stub, .trust = Trust::dynamic,
                           .address_kind = AddressKind::return_address, .address = 0x6800'0040,
                           .function = 0x681c'0000, .name = "IL_STUB_PInvoke", .target = "orders!wait_for_reply"},
                          0x10'0080});
  stack.frames.push_back(managed("Orders.Client.Fetch<System.__Canon>(System.String)"));
  stack.frames.back().il = {0, 0x0600'0007, 0x1c};
  stack.frames.back().file = "/src/orders/Client.cs";
  stack.frames.back().line = 42;
  stack.frames.back().line_approximate = true;
  stack.frames.push_back(native(kOrders + 0x1006, 1, "submit_order", 6));
  stack.frames.back().symbol = SymbolKind::pdb;
  stack.frames.back().file = "D:\\build\\orders\\submit.cpp";
  stack.frames.back().line = 118;
  stack.frames.push_back(managed("Orders.Program.Main()"));
  stack.frames.push_back(native(kNtdll + 0x2088, 0, "RtlUserThreadStart", 0x88));
  return thread;
}

Thread partial_thread() {
  Thread thread{.os_id = 0x1a8, .clr_id = 0xc1'4000};
  Stack& stack = thread.stack;
  stack.engine = Engine::copy;
  stack.refusal = 0x8013'1360;
  stack.frames.push_back({{.kind = FrameKind::stub, .trust = Trust::context, .address = 0x6800'0000}, 0x10'0000});
  stack.frames.push_back({{.kind = FrameKind::gap, .why = OpenReason::no_unwind}});
  stack.frames.push_back(managed("Evil.\x1b[31mName\n\x7f\xff(System.Int32)"));
  stack.frames.push_back(native(0x1234, Frame::kNone, "", 0, Trust::leaf));
  stack.frames.push_back({{.kind = FrameKind::gap, .why = OpenReason::stack_cut}});
  return thread;
}

// The thread never ran managed code. Its name tries to end its quotes, to reverse the line and to colour it.
Thread native_thread() {
  Thread thread{.os_id = 0x1b0, .name = "say \"hi\" \u202Eback\u009B31m"};
  thread.frozen_ns = 90'000;
  Stack& stack = thread.stack;
  stack.refusal = 0x8000'4005;
  stack.frames.push_back(native(kNtdll + 0x1014, 0, "NtWaitForSingleObject", 0x14,
                                Trust::context));
  stack.frames.back().address_kind = AddressKind::instruction_pointer;
  stack.frames.push_back(native(kNtdll + 0x2000, 0, "RtlUserThreadStart", 0));
  return thread;
}

}  // namespace

Snapshot representative_snapshot() {
  Snapshot snapshot;
  snapshot.tool_version = "0.0.0";
  snapshot.unix_time_ms = 1'795'239'973'761;
  snapshot.process = {4711, "C:\\orders\\orders.exe", "orders.exe --port 8080"};
  snapshot.runtime = {".NET", 10, 0, 12, 0};
  snapshot.modules = {{kNtdll, 0x9'0000, 0x65f0'0000, "C:\\windows\\system32\\ntdll.dll"},
                      {kOrders, 0x1'0000, 0, "C:\\orders\\orders.dll"}};
  snapshot.modules[0].code_view = CodeViewId{.age = 1, .path = "ntdll.pdb"};
  for (std::size_t i = 0; i < 16; ++i) {
    constexpr std::uint8_t kGuid[] = {0x3c, 0x2d, 0x1e, 0x0f, 0x5a, 0x4b, 0x78, 0x69,
                                      0x87, 0x96, 0xa5, 0xb4, 0xc3, 0xd2, 0xe1, 0xf0};
    snapshot.modules[0].code_view->guid[i] = std::byte{kGuid[i]};
  }
  // This is how GNU ld writes a build id.
  snapshot.modules[1].code_view = CodeViewId{.age = 1};
  snapshot.modules[1].code_view->guid.fill(std::byte{0xb1});
  snapshot.assemblies = {{.path = "C:\\orders\\orders.dll"}};
  snapshot.assemblies[0].mvid.fill(std::byte{0x5a});
  snapshot.assemblies[0].pdb =
      CodeViewId{.age = 1, .timestamp = 0x5eed'1234, .portable = true, .path = "/src/orders/orders.pdb"};
  Thread skipped{.os_id = 0x1ac};
  skipped.skipped = "the thread is ending";
  snapshot.threads = {whole_thread(), partial_thread(), skipped, native_thread()};
  // 2026-11-21 05:46:13.761 UTC.
  snapshot.threads[0].created = 116'444'736'000'000'000 + 1'795'239'973'761 * 10'000;
  snapshot.threads[0].cpu = 1'250'000;
  snapshot.threads[1].cpu = 0;
  snapshot.locks = {
      {.address = 0x1'2000'3040, .type = "System.Object", .owner = 0x1a4, .held = true, .recursion = 1,
       .waiters = {{0x1a8, false}, {0x1b0, false}}},
      {.address = 0x1'2000'5060, .type = "Orders.Queue<\x1b[31m>", .owner = 0x1a8, .held = true, .recursion = 2,
       .waiters = {{0x1ac, true}}},
      {.address = 0x1'2000'7080, .type = "System.Object", .waiters = {{0x1a4, true}}},
      {.kind = LockKind::critical_section, .address = 0x2'1801'0000, .owner = 0x1a8, .held = true, .recursion = 1},
      {.kind = LockKind::srw_lock, .address = 0x2'1801'0100, .held = true},
  };
  snapshot.locks_missing = "the time for it was over";
  return snapshot;
}

void add_async_work(Snapshot& snapshot) {
  constexpr std::uint64_t kTasks = 0x1'2001'0000, kSemaphore = 0x1'2002'0000;
  const std::string kWorker = "Orders.Worker.RunAsync(System.Threading.CancellationToken)";
  const auto add = [&](AsyncTask task) {
    task.address = kTasks + 0x40 * snapshot.tasks.size();
    if (task.type.empty()) task.type = "System.Threading.Tasks.Task<System.Int32>";
    snapshot.tasks.push_back(std::move(task));
  };
  const auto method = [](std::string name, std::string file, std::uint32_t line, std::vector<std::uint32_t> awaits) {
    AsyncTask task;
    task.kind = TaskKind::async_method;
    task.method = std::move(name);
    task.await_number = 0;
    task.file = std::move(file);
    task.line = line;
    task.awaits = std::move(awaits);
    return task;
  };
  AsyncTask load = method("Orders.Window.LoadAsync()", "/src/orders/Window.cs", 31, {1});
  load.source_url = "https://example.org/Window.cs";
  add(load);
  AsyncTask fetch = method("Orders.Client.FetchAsync()", {}, 0, {});
  fetch.status = TaskStatus::done;
  fetch.await_number = -1;
  fetch.continues_on = 0;
  fetch.not_resumed = true;
  add(fetch);
  AsyncTask all;
  all.kind = TaskKind::when_all;
  all.awaits = {3, 4, 5, 6};
  all.awaits_left_out = 2;
  add(all);
  add(method(kWorker, "/src/orders/Worker.cs", 30, {7}));
  add(method(kWorker, "/src/orders/Worker.cs", 30, {8}));
  AsyncTask faulted;
  faulted.status = TaskStatus::faulted;
  add(faulted);
  AsyncTask source;
  source.kind = TaskKind::completion_source;
  add(source);
  AsyncTask semaphore;
  semaphore.kind = TaskKind::semaphore;
  semaphore.type = "System.Threading.SemaphoreSlim+TaskNode";
  semaphore.object = kSemaphore;
  semaphore.object_type = "System.Threading.SemaphoreSlim";
  add(semaphore);
  add(semaphore);
  AsyncTask running = method("Orders.Feed.ReadAsync()", {}, 0, {});
  running.status = TaskStatus::running;
  running.await_number = -1;
  running.thread = snapshot.threads[1].os_id;
  add(running);
  add(method("Orders.Feed.LoopAsync()", "/src/orders/Feed.cs", 12, {9}));
  AsyncTask delay;
  delay.kind = TaskKind::delay;
  delay.type = "System.Threading.Tasks.Task+DelayPromise";
  delay.due_ms = 14'200;
  add(delay);
  add(method("Orders.Cache.RefreshAsync()", "/src/orders/Cache.cs", 57, {11}));
  add(method("Evil.\x1b[31mName\n()", "/src/evil\x1b[2J.cs", 1, {14}));
  add(method("Orders.Book.CloseAsync()", "/src/orders/Book.cs", 9, {13}));
  AsyncTask queued;
  queued.kind = TaskKind::delegate;
  queued.status = TaskStatus::queued;
  queued.method = "Orders.Queue+<>c.<Drain>b__4_0()";
  add(queued);
  snapshot.contexts = {{.address = 0x1'2003'0000,
                        .type = "System.Windows.Forms.WindowsFormsSynchronizationContext",
                        .thread = snapshot.threads[0].os_id}};
  snapshot.threads[0].waits_for_task = 0;
  snapshot.threads[0].traits = {.main = true, .sta = true, .pumps = true};
  snapshot.threads[1].traits = {.pool = true, .mta = true};
  snapshot.threads[3].waits_for_task = 2;
  snapshot.threads[3].queue_position = 0x20'0000'0007;
  snapshot.locks.push_back({.kind = LockKind::semaphore,
                            .address = kSemaphore,
                            .type = "System.Threading.SemaphoreSlim",
                            .recursion = 2,
                            .sharers = {snapshot.threads[0].os_id},
                            .task_holders = {12}});
  snapshot.pool = {.queued = 213, .workers = 16, .working = 16, .goal = 16, .min = 4, .max = 32767};
  snapshot.pool.items = {{.method = "Orders.Queue+<>c.<Drain>b__4_0()", .count = 12, .task = 15},
                         {.method = {}, .count = 1}};
  snapshot.tasks_missing = "the time for tasks was over";
}

Snapshot checked_snapshot() {
  Snapshot snapshot = representative_snapshot();
  add_async_work(snapshot);
  std::vector<StackFrame>& whole = snapshot.threads[0].stack.frames;
  whole[1].call = CallCheck::no_call;
  whole[4].call = CallCheck::possible;
  whole[6].call = CallCheck::verified;
  snapshot.threads[3].stack.frames[1].call = CallCheck::elsewhere;
  snapshot.crash = Crash{.thread = snapshot.threads[0].os_id,
                         .code = 0xC0000005,
                         .address = whole[0].address,
                         .access = CrashAccess::write,
                         .touched = 0x18,
                         .detail = 0x80004003,
                         .objects = {{.type = "System.NullReferenceException",
                                      .message = "Object reference not set to an instance of an object.",
                                      .hresult = 0x80004003,
                                      .trace = {"Orders.Client.Fetch(System.String)"}}}};
  snapshot.threads[0].handles = {{{{.type = "Orders.OutOfStock",
                                    .message = "no screws",
                                    .hresult = 0x80131500,
                                    .trace = {"Orders.Client.Reserve(System.Int32)"}},
                                   {.type = "System.IO.IOException", .message = "", .trace = {}}}}};
  return snapshot;
}

}  // namespace mixwalk
