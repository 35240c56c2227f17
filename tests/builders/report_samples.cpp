#include "tests/builders/report_samples.h"

#include <fmt/format.h>

#include "tests/builders/snapshot_builder.h"
#include "walker/model/recording_builder.h"

namespace mixwalk {
namespace {

StackFrame managed_frame(std::string name, std::uint64_t address) {
  return {{.kind = FrameKind::managed, .trust = Trust::runtime, .address_kind = AddressKind::return_address,
           .address = address, .function = 0x681c'0d20, .name = std::move(name)},
          0x10'0100};
}

StackFrame native_frame(std::string name, std::uint64_t address, std::int32_t module) {
  return {{.kind = FrameKind::native, .trust = Trust::unwind_info, .address_kind = AddressKind::return_address,
           .address = address, .module = module, .name = std::move(name), .symbol = SymbolKind::pdb,
           .displacement = 0x10},
          0x10'0000};
}

}  // namespace

std::vector<std::string> hostile_names() {
  return {"<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", "<!--<script>", "]]>", "\"';&amp;",
          "two\nlines\r\n\tand\x1b[31m", "\u202Eback\u200E \u2028 \u2066", "{{constructor}}${1}`",
          "\xff\xfe no UTF-8", std::string(64 * 1024, '<')};
}

Snapshot hostile_snapshot() {
  Snapshot snapshot = representative_snapshot();
  for (const std::uint32_t id : {0x200u, 0x204u}) {
    Thread thread = snapshot.threads[0];
    thread.os_id = id;
    thread.name = id == 0x200 ? "holds it" : "waits for it";
    snapshot.threads.push_back(thread);
  }
  snapshot.locks = {{.address = 0x1000, .type = "System.Object", .owner = 0x200, .held = true, .recursion = 2,
                     .waiters = {{0x204, false}, {0x1a8, true}}}};
  snapshot.locks_missing.clear();
  // Two frames of the runtime follow each other, and are folded.
  snapshot.modules.push_back({0x3'0000'0000, 0x40'0000, 0, "C:\\dotnet\\coreclr.dll"});
  for (StackFrame frame : {native_frame("", 0x3'0000'1000, 2), native_frame("", 0x3'0000'2000, 2)}) {
    frame.symbol = SymbolKind::none;
    frame.displacement = 0;
    std::vector<StackFrame>& frames = snapshot.threads[4].stack.frames;
    frames.insert(frames.end() - 1, frame);
  }
  std::uint32_t id = 0x300;
  for (const std::string& name : hostile_names()) {
    Thread thread{.os_id = id++, .clr_id = 1, .name = name};
    thread.stack.frames = {managed_frame(name, 0x6900'0000 + id), native_frame(name, 0x2'1800'2000 + id, 1)};
    thread.stack.frames[0].file = "C:\\src\\" + name;
    thread.stack.frames[0].line = 7;
    snapshot.threads.push_back(thread);
    snapshot.locks.push_back({.address = 0x2000 + id, .type = name, .owner = thread.os_id, .held = true});
  }
  snapshot.process.path = "C:\\orders\\" + hostile_names()[1];
  snapshot.process.command_line = hostile_names()[0];
  return snapshot;
}

Snapshot hostile_tasks_snapshot() {
  Snapshot snapshot = hostile_snapshot();
  add_async_work(snapshot);
  for (const std::string& name : hostile_names()) {
    const auto first = static_cast<std::uint32_t>(snapshot.tasks.size());
    AsyncTask task;
    task.kind = TaskKind::async_method;
    task.method = task.file = name;
    task.line = 7;
    task.awaits = {first + 1};
    snapshot.tasks.push_back(task);
    task.awaits.clear();
    task.object = 0x1'2004'0000;
    task.object_type = name;
    snapshot.tasks.push_back(task);
  }
  return snapshot;
}

std::vector<Snapshot> series_of_snapshots() {
  std::vector<Snapshot> series(3, hostile_snapshot());
  for (std::size_t i = 0; i < series.size(); ++i) series[i].unix_time_ms += 10'000 * i;
  std::erase_if(series[0].threads, [](const Thread& thread) { return thread.os_id == 0x204; });
  for (Snapshot* later : {&series[1], &series[2]}) {
    std::erase_if(later->threads, [](const Thread& thread) { return thread.os_id == 0x1b0; });
  }
  for (Thread& thread : series[2].threads) {
    if (thread.os_id == 0x200) thread.stack.frames[3].name = "Orders.Client.Retry(System.String)";
  }
  return series;
}

std::vector<Snapshot> deadlock_snapshots() {
  Snapshot dump = hostile_snapshot();
  dump.locks = {{.address = 0x1000, .type = hostile_names()[0], .owner = 0x200, .held = true, .recursion = 1,
                 .waiters = {{0x204, false}, {0x1a8, false}}},
                {.address = 0x1008, .type = "System.Object", .owner = 0x204, .held = true, .recursion = 1,
                 .waiters = {{0x200, false}}}};
  std::vector<Snapshot> dumps(2, dump);
  dumps[1].unix_time_ms += 10'000;
  return dumps;
}

std::vector<Snapshot> fleet_snapshots() {
  Snapshot in_trouble = deadlock_snapshots().front();
  Snapshot healthy = in_trouble;
  for (Thread& thread : in_trouble.threads) {
    if (thread.os_id == 0x200 || thread.os_id == 0x204)
      thread.stack.frames[3].name = "Orders.Stock.Reserve(System.Int32)";
  }
  for (Lock& lock : healthy.locks) lock.waiters.clear();
  std::erase_if(healthy.threads, [](const Thread& thread) { return thread.os_id == 0x200 || thread.os_id == 0x204; });
  std::vector<Snapshot> dumps = {in_trouble, in_trouble, healthy, healthy};
  for (std::uint32_t i = 0; i < dumps.size(); ++i) {
    dumps[i].process.id = 4711 + i;
    dumps[i].unix_time_ms += i;
  }
  return dumps;
}

std::vector<Snapshot> mixed_fleet_snapshots() {
  std::vector<Snapshot> dumps = fleet_snapshots();
  dumps[1].process.path = "D:\\billing\\billing.exe";
  dumps[1].runtime = {".NET", 8, 0, 31, 0};
  return dumps;
}

std::array<Recording, 2> compared_recordings() {
  struct Work {
    std::string method, native;  // `native` is a function below the method, or empty
    std::array<unsigned, 2> samples;
  };
  const std::vector<Work> works = {{"Orders.Service.Price(System.Int32)", "sqlite3_step", {20, 30}},
                                   {"Orders.Service.Ship(System.Int32)", "", {60, 15}},
                                   {"Orders.Service.Log(System.String)", "write_line", {40, 0}},
                                   {"Orders.Service.Audit" + hostile_names()[0], "", {0, 25}},
                                   {"Orders.Service.Parse(System.String)", "", {30, 15}}};
  std::array<Recording, 2> recordings;
  for (std::size_t side = 0; side < recordings.size(); ++side) {
    RecordingBuilder builder;
    Recording& recording = builder.recording();
    recording.tool_version = "0.0.0";
    recording.unix_time_ms = 1'795'412'335'000 + side * 86'400'000;
    recording.event = SampleEvent::wall;
    recording.period_ns = 10'000'000;
    recording.duration_ns = side == 0 ? 8'000'000'000 : 4'000'000'000;
    recording.process = {4711 + static_cast<std::uint32_t>(side), "C:\\orders\\orders.exe", ""};
    recording.runtime = {".NET", 10, 0, 12, 0};
    // Each run of the program has other addresses.
    const std::uint64_t moved = side * 0x1'0000'0000;
    builder.add_module({0x1'7000'0000 + moved, 0x20'0000, 1, "C:\\Windows\\System32\\ntdll.dll"});
    builder.add_module({0x2'1800'0000 + moved, 0x20'0000, 2, "C:\\orders\\e_sqlite3.dll"});
    const std::uint32_t worker = builder.add_thread(0x200, 1, "worker"), idle = builder.add_thread(0x204, 2, "idle");
    const auto add = [&](const std::vector<StackFrame>& frames, std::uint32_t thread, unsigned samples) {
      Stack stack;
      stack.frames = frames;
      stack.frames.front().address_kind = AddressKind::instruction_pointer;
      const std::uint32_t leaf = builder.add_stack(stack);
      for (unsigned i = 0; i < samples; ++i) {
        recording.samples.push_back({.time_ns = recording.samples.size() * 1'000'000, .value = 10'000'000,
                                     .thread = thread, .stack = leaf});
      }
    };
    std::uint64_t address = 0x6800'0000 + moved;
    for (const Work& work : works) {
      std::vector<StackFrame> frames;
      if (!work.native.empty()) frames.push_back(native_frame(work.native, 0x2'1800'1000 + moved + address % 4096, 1));
      frames.push_back(managed_frame(work.method, address += 0x100));
      frames.push_back(managed_frame("Orders.Service.Handle(System.String)", 0x6900'0000 + moved));
      frames.push_back(managed_frame("Orders.Program.Main()", 0x6900'1000 + moved));
      frames.push_back(native_frame("RtlUserThreadStart", 0x1'7000'2088 + moved, 0));
      add(frames, worker, work.samples[side]);
    }
    add({native_frame("NtWaitForSingleObject", 0x1'7000'1014 + moved, 0),
         managed_frame("Orders.Timer.Run()", 0x6900'2000 + moved),
         native_frame("RtlUserThreadStart", 0x1'7000'2088 + moved, 0)},
        idle, side == 0 ? 150 : 85);
    recordings[side] = std::move(recording);
  }
  return recordings;
}

Snapshot many_threads_snapshot(std::size_t threads, unsigned moment) {
  Snapshot snapshot = representative_snapshot();
  snapshot.threads.clear();
  for (std::size_t i = 0; i < threads; ++i) {
    Thread thread{.os_id = static_cast<std::uint32_t>(0x1000 + 4 * i), .clr_id = 1};
    if (i % 4 == 0) thread.name = fmt::format("Worker {}", i);
    const std::size_t moved = i % 10 == 0 ? moment : 0;
    const std::size_t shape = (i % 3 == 0 ? i / 30 : i) + moved;
    const std::size_t depth = 20 + shape % 41;
    Stack& stack = thread.stack;
    stack.frames.push_back(native_frame("NtWaitForSingleObject", 0x1'7000'1014, 0));
    stack.frames.push_back(native_frame("wait_for_reply", 0x2'1800'1006 + 16 * (shape % 200), 1));
    for (std::size_t j = depth; j-- > 0;) {
      const std::size_t function = j < 6 ? j : (shape % 20) * 15 + j % 15;
      // The same function is called from many places.
      stack.frames.push_back(managed_frame(fmt::format("Orders.Services.Layer{}.Step{}(System.String, System.Int32)",
                                                       function % 30, function),
                                           0x6800'0000 + 0x100 * function + (j > depth - 4 ? shape % 50 : 0)));
    }
    stack.frames.push_back(native_frame("RtlUserThreadStart", 0x1'7000'2088, 0));
    snapshot.threads.push_back(std::move(thread));
  }
  for (std::uint32_t i = 0; i + 1 < threads && i < 50; ++i) {
    snapshot.locks.push_back({.address = 0x5000 + 8ull * i, .type = "System.Object", .owner = 0x1000 + 4 * i,
                              .held = true, .recursion = 1, .waiters = {{0x1004 + 4 * i, false}}});
  }
  return snapshot;
}

}  // namespace mixwalk
