#include "tests/builders/recordings.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "tests/builders/image_builder.h"
#include "tests/builders/snapshot_builder.h"
#include "walker/model/recording_builder.h"
#include "walker/model/series.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kPeriodNs = 10'000'000;
constexpr std::uint64_t kPlugin = 0x3'0000'0000;

bool is_periodic(SampleEvent event) {
  return event == SampleEvent::wall || event == SampleEvent::cpu;
}

// Returns what the samples of such an event are about.
std::string subject_of(SampleEvent event) {
  switch (event) {
    case SampleEvent::class_load: return "Orders.Cart<System.\xff>;";
    case SampleEvent::module_load: return "se;c\xffond.dll";
    default: return "Orders.Price<System.\xff>;[]";
  }
}

std::uint32_t add_frame(Recording& recording, const Frame& frame, std::uint32_t parent) {
  recording.frames.push_back(frame);
  recording.nodes.push_back({parent, static_cast<std::uint32_t>(recording.frames.size() - 1)});
  return static_cast<std::uint32_t>(recording.nodes.size() - 1);
}

// Adds a managed and a native function, each with another function inlined into it; in the native one, two levels.
std::uint32_t inlined_stack(Recording& recording) {
  Frame frame{.kind = FrameKind::managed, .trust = Trust::runtime,
                      .address_kind = AddressKind::return_address, .address = 0x6800'2040,
                      .function = 0x681c'1000, .name = "Orders.Program.Main()"};
  std::uint32_t node = add_frame(recording, frame, Recording::kNone);
  frame.inline_depth = 1;
  frame.name = "Orders.Program.Parse(System.String)";
  node = add_frame(recording, frame, node);
  frame = {.kind = FrameKind::native, .trust = Trust::unwind_info, .address = 0x2'1800'2100,
           .module = 1, .name = "price", .symbol = SymbolKind::dwarf, .displacement = 0x100,
           .file = "/src/orders/price.cpp", .line = 41};
  node = add_frame(recording, frame, node);
  frame.inline_depth = 1;
  frame.name = "operator;(int, int)\r\n";
  frame.file = "/src/orders/pri\xff;ce\n.h";
  frame.line = 7;
  node = add_frame(recording, frame, node);
  frame.inline_depth = 2;
  frame.name = "\u202Eround\t\"up\"\\";
  return add_frame(recording, frame, node);
}

// Returns a stack with the same address in two images, one after the other; `which` is 0 for the first, 1 for the
// second.
std::uint32_t plugin_stack(RecordingBuilder& builder, int which) {
  const Module module{kPlugin, test::ImageBuilder::kSizeOfImage,
                      which == 0 ? test::ImageBuilder::kTimestamp : 0x22u,
                      which == 0 ? kImageOnDisk : "C:\\plugins\\se;c\xffond\n.dll"};
  const auto index = static_cast<std::int32_t>(builder.add_module(module));
  Stack stack;
  // The address is the first byte behind the image, because a call that never returns ends the image.
  stack.frames.push_back({{.kind = FrameKind::native, .trust = Trust::unwind_info,
                          .address_kind = AddressKind::return_address,
                          .address = kPlugin + module.size, .module = index,
                          .name = "sub_fe0", .symbol = SymbolKind::function_table,
                          .displacement = 0x20}});
  stack.frames.push_back({{.kind = FrameKind::native, .trust = Trust::unwind_info,
                          .address_kind = AddressKind::return_address, .address = kPlugin + 0x40,
                          .module = index}});
  return builder.add_stack(stack);
}

}  // namespace

std::optional<std::vector<std::byte>> RecordedImages::read(const std::string& path) {
  // On the disk, orders.dll is now another version.
  if (path != kImageOnDisk && path != "C:\\orders\\orders.dll") return std::nullopt;
  return test::ImageBuilder().build();
}

Recording representative_recording(SampleEvent event) {
  const Snapshot snapshot = representative_snapshot();
  RecordingBuilder builder;
  Recording& recording = builder.recording();
  recording.tool_version = snapshot.tool_version;
  // Two recordings of one process never begin at the same time, and the id of an OTLP profile is made from that time.
  recording.unix_time_ms = snapshot.unix_time_ms;
  if (event == SampleEvent::class_load) recording.unix_time_ms += 1'000;
  if (event == SampleEvent::module_load) recording.unix_time_ms += 2'000;
  recording.process = snapshot.process;
  recording.runtime = snapshot.runtime;
  recording.event = event;
  for (const Module& module : snapshot.modules) builder.add_module(module);
  for (const Assembly& assembly : snapshot.assemblies) builder.add_assembly(assembly);
  struct Shape {
    std::uint32_t thread, stack, detail;
  };
  std::vector<Shape> shapes;
  for (const Thread& thread : snapshot.threads) {
    shapes.push_back({builder.add_thread(thread.os_id, thread.clr_id, thread.name),
                      builder.add_stack(thread.stack),
                      thread.skipped.empty() ? Recording::kNone
                                             : builder.add_detail(thread.skipped)});
  }
  const std::uint32_t late = builder.add_thread(0x1c0, 0xc1'6000, "late; \xc3(\n\x01" "thread");
  const std::uint32_t plugins[] = {plugin_stack(builder, 0), plugin_stack(builder, 1)};
  const std::uint32_t inlined = inlined_stack(recording);
  const std::uint32_t type = builder.add_detail(subject_of(event));
  constexpr std::uint64_t kTicks = 10;
  for (std::uint64_t tick = 0; tick < kTicks; ++tick) {
    const auto add = [&](const Shape& shape) {
      Recording::Sample sample{.time_ns = tick * kPeriodNs + 1'234'567 % (tick + 1),
                               .value = is_periodic(event) ? kPeriodNs + tick : 1,
                               .thread = shape.thread, .stack = shape.stack,
                               .detail = shape.detail};
      if (is_moment(event)) sample.detail = type;
      recording.samples.push_back(sample);
    };
    for (const Shape& shape : shapes) add(shape);
    if (tick >= 5) add({late, tick % 2 == 0 ? plugins[0] : plugins[1], Recording::kNone});
    if (tick >= 7) add({shapes[0].thread, inlined, Recording::kNone});
  }
  recording.samples.push_back({.time_ns = kTicks * kPeriodNs, .thread = late});
  std::stable_sort(recording.samples.begin(), recording.samples.end(),
                   [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  recording.duration_ns = kTicks * kPeriodNs + 5;
  recording.period_ns = is_periodic(event) ? kPeriodNs : 0;
  return std::move(recording);
}

Recording large_recording(const LargeRecording& size) {
  std::mt19937 random(4711);  // the numbers of this generator are the same everywhere; those of the distributions are
                              // not
  Recording recording;
  recording.tool_version = "0.0.0";
  recording.unix_time_ms = 1'795'239'973'761;
  recording.event = SampleEvent::wall;
  recording.period_ns = 1'000'000;
  recording.process = {4711, "C:\\orders\\orders.exe", ""};
  recording.runtime = {".NET", 10, 0, 12, 0};
  constexpr std::uint32_t kModules = 100, kModuleBytes = 0x10'0000;
  for (std::uint32_t i = 0; i < kModules; ++i) {
    recording.modules.push_back({0x1'7000'0000 + std::uint64_t{i} * kModuleBytes, kModuleBytes,
                                 0x6500'0000 + i, fmt::format("C:\\orders\\module{}.dll", i)});
  }
  for (std::uint32_t i = 0; i < size.threads; ++i) {
    recording.threads.push_back({1000 + i, 0xc0'0000 + i, fmt::format("Worker {}", i)});
  }
  const std::uint32_t frames = std::max(1u, size.nodes / 4);
  for (std::uint32_t i = 0; i < frames; ++i) {
    Frame frame{.address_kind = AddressKind::return_address};
    if (i % 2 == 0) {
      frame.module = static_cast<std::int32_t>(i % kModules);
      frame.address = recording.modules[i % kModules].base + 0x1000 + i;
      if (i % 3 != 0) frame.name = fmt::format("function_of_some_length_{}", i);
    } else {
      frame.kind = FrameKind::managed;
      frame.address = 0x7fff'0000'0000 + i * 64;
      frame.function = frame.address;
      frame.name = fmt::format("Orders.Client{}.Fetch<System.__Canon>(System.String)", i);
    }
    recording.frames.push_back(std::move(frame));
  }
  // Makes trees with this many nodes. A node's parent is one of the few nodes before it, which gives some 20 frames per
  // stack.
  constexpr std::uint32_t kTree = 250, kNear = 10, kMoves = 4;
  for (std::uint32_t i = 0; i < size.nodes; ++i) {
    const std::uint32_t back = 1 + random() % kNear;
    const std::uint32_t in_tree = i % kTree;
    recording.nodes.push_back(
        {in_tree == 0 ? Recording::kNone : i - std::min(back, in_tree), i % frames});
  }
  // Most of the time a thread is where it was before, because most threads of most programs wait.
  std::vector<std::uint32_t> stacks(size.threads);
  for (std::uint32_t i = 0; i < size.samples; ++i) {
    const std::uint32_t thread = i % size.threads;
    const bool moves = i < size.threads || random() % kMoves == 0;
    if (moves) stacks[thread] = static_cast<std::uint32_t>(random() % size.nodes);
    recording.samples.push_back({.time_ns = i / size.threads * recording.period_ns + thread,
                                 .value = recording.period_ns,
                                 .thread = thread,
                                 .stack = stacks[thread]});
  }
  recording.duration_ns = (size.samples / size.threads + 1) * recording.period_ns;
  return recording;
}

Recording parked_recording(const ParkedRecording& size) {
  constexpr std::uint64_t kSecondNs = 1'000'000'000;
  RecordingBuilder builder;
  Recording& recording = builder.recording();
  recording.event = SampleEvent::wall;
  recording.period_ns = kPeriodNs;
  recording.process = {4711, "C:\\orders\\orders.exe", {}};
  std::vector<std::uint32_t> stacks;
  for (std::uint32_t thread = 0; thread < size.threads; ++thread) {
    builder.add_thread(thread + 1, 0, fmt::format("parked {}", thread));
    Stack stack;
    for (std::uint32_t frame = 0; frame < size.frames; ++frame) {
      stack.frames.push_back({{.kind = FrameKind::managed, .address = 0x1000 + frame,
                              .name = fmt::format("Orders.Client{}.Step{}()", thread, frame)}});
    }
    stacks.push_back(builder.add_stack(stack));
  }
  std::uint64_t time = 0;
  for (std::uint32_t tick = 0; tick < size.seconds * size.hz; ++tick) {
    const std::uint64_t since_last = kSecondNs / size.hz / 4 * (3 + tick % 3);
    time += since_last;
    for (std::uint32_t thread = 0; thread < size.threads; ++thread) {
      recording.samples.push_back(
          {.time_ns = time, .value = since_last, .thread = thread, .stack = stacks[thread]});
    }
  }
  recording.duration_ns = time;
  return std::move(recording);
}

Recording overloads_recording() {
  Recording recording;
  recording.tool_version = "0.0.0";
  recording.unix_time_ms = 1'795'239'973'761;
  recording.event = SampleEvent::wall;
  recording.period_ns = kPeriodNs;
  recording.process = {4711, "C:\\orders\\orders.exe", ""};
  recording.threads.push_back({.os_id = 7, .name = "main"});
  const auto add = [&](FrameKind kind, std::string name, std::uint32_t parent) {
    return add_frame(recording,
                     {.kind = kind,
                      .address = 0x6800'0000 + recording.frames.size() * 64,
                      .name = std::move(name)},
                     parent);
  };
  const std::uint32_t root = add(FrameKind::managed, "Burn.Main()", Recording::kNone);
  std::vector<std::uint32_t> leaves;
  for (const char* name :
       {"Cache<S1>.Get(S1)", "Cache<S2>.Get(S2)", "Cache<System.__Canon>.Get(System.__Canon)",
        "Cache<S1>.Find<S1>(S1)", "Cache<S1>.Find<S2>(S2)", "Burn.Put(Key)", "Burn.Put(Key[])",
        "Burn.Put(S1[])", "Burn.Put(S1[,])", "Burn.Put(System.Func<Key>)",
        "Burn.Put(System.Func<S1>)", "Burn.Put(System.Int32[])", "Burn.Put(System.String[])",
        "Burn+<>c.<Main>b__0_0(Key)", "Burn+<>c.<Main>b__0_0(S1)"}) {
    leaves.push_back(add(FrameKind::managed, name, root));
  }
  for (const char* name :
       {"orders::Cache<int>::get(int)", "orders::Cache<char>::get(char)", "orders::put(int)",
        "orders::put(std::vector<int>)", "<orders::Cart as Get>::get"}) {
    leaves.push_back(add(FrameKind::native, name, root));
  }
  std::uint64_t time = 0;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    recording.samples.push_back(
        {.time_ns = time, .value = kPeriodNs * (i + 1), .stack = leaves[i]});
    time += kPeriodNs * (i + 1);
  }
  recording.duration_ns = time;
  return recording;
}

Recording crowded_recording(SampleEvent event) {
  Recording recording;
  recording.tool_version = "0.0.0";
  recording.unix_time_ms = 1'795'239'973'761;
  recording.event = event;
  recording.period_ns = is_periodic(event) ? 100'000 : 0;
  recording.process = {4711, "C:\\orders\\orders.exe", ""};
  recording.threads = {{.os_id = 7, .name = "main"}, {.os_id = 8, .name = "worker"}};
  if (is_moment(event))
    recording.details = {"System.OperationCanceledException", "System.IO.IOException"};
  const auto add = [&](std::string name, std::uint32_t parent) {
    return add_frame(recording,
                     {.kind = FrameKind::managed, .address = 0x6800'0000, .name = std::move(name)},
                     parent);
  };
  const std::uint32_t main = add("Orders.Main()", Recording::kNone);
  const std::uint32_t visit = add("Orders.Visit()", main), again = add("Orders.Visit()", visit);
  const std::uint32_t parse = add("Orders.Parse()", again), other = add("Orders.Aside()", main);
  // Times of which a reader that multiplies by 1,000 in floating point gets some a nanosecond too
  // low (1.001 → 1000).
  const std::uint64_t times[] = {
      0,      0,      0,         1,         2,         2,         300,      301,
      999,    1000,   1001,      1001,      1001,      1002,      1009,     1115,
      2001,   2003,   4019,      4019,      8'193,     16'387,    16'387,   32'771,
      65'539, 65'540, 1'000'001, 1'000'001, 1'000'003, 9'007'199, 9'007'199};
  const std::uint32_t stacks[] = {parse, again, other, visit, parse, main};
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < std::size(times); ++i) {
    for (std::uint32_t thread = 0; thread < 2; ++thread) {
      recording.samples.push_back(
          {.time_ns = times[i],
           .value = is_periodic(event) ? std::max<std::uint64_t>(times[i] - last, 1) : 1,
           .thread = thread,
           .stack = stacks[(i + thread) % std::size(stacks)],
           .detail = is_moment(event) ? static_cast<std::uint32_t>(i % 2) : Recording::kNone});
    }
    last = times[i];
  }
  recording.duration_ns = last + 1000;
  return recording;
}

Recording series_recording(const std::vector<Snapshot>& series) {
  SeriesBuilder builder;
  for (const Snapshot& dump : series) {
    if (!dump.threads.empty()) builder.add(dump);
  }
  builder.end();
  return std::move(builder.recording());
}

}  // namespace mixwalk
