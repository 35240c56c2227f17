#include "walker/model/series.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace mixwalk {
namespace {

constexpr std::uint64_t kNsOfMs = 1'000'000;
// Fewer than a file may have (store/layout.h): a series is not to fail for want of room for its tasks.
constexpr std::size_t kMaxSeriesTasks = 1'000'000;
constexpr std::size_t kMaxSeriesExceptions = 60'000;  // with their inner exceptions

Recording::AsyncWork async_work(const Snapshot& dump) {
  Recording::AsyncWork work{.tasks = dump.tasks,
                            .contexts = dump.contexts,
                            .pool = dump.pool,
                            .missing = dump.tasks_missing,
                            .waits = {},
                            .traits = {},
                            .queue_positions = {}};
  const auto waits = [](const Thread& thread) { return thread.waits_for_task != AsyncTask::kNone; };
  const auto waits_in_queue = [](const Thread& thread) { return thread.queue_position != 0; };
  const auto has_traits = [](const Thread& thread) { return thread.traits != ThreadTraits(); };
  if (std::ranges::any_of(dump.threads, waits)) {
    for (const Thread& thread : dump.threads) work.waits.push_back(thread.waits_for_task);
  }
  if (std::ranges::any_of(dump.threads, has_traits)) {
    for (const Thread& thread : dump.threads) work.traits.push_back(thread.traits);
  }
  if (std::ranges::any_of(dump.threads, waits_in_queue)) {
    for (const Thread& thread : dump.threads) work.queue_positions.push_back(thread.queue_position);
  }
  return work;
}

std::vector<Recording::Handled> handled_exceptions(const Snapshot& dump) {
  std::vector<Recording::Handled> handled;
  for (std::size_t i = 0; i < dump.threads.size(); ++i) {
    for (const HandledException& exception : dump.threads[i].handles) {
      handled.push_back({static_cast<std::uint32_t>(i), exception});
    }
  }
  return handled;
}

void restore(Snapshot& dump, const std::vector<Recording::Handled>& handled) {
  for (const Recording::Handled& each : handled) {
    if (each.sample < dump.threads.size()) dump.threads[each.sample].handles.push_back(each.exception);
  }
}

// A file may have its locks before its tasks, so it is only here that a lock with a task that is not there is noticed.
void restore(Snapshot& dump, const Recording::AsyncWork& work) {
  for (Lock& lock : dump.locks) {
    std::erase_if(lock.task_holders, [&](std::uint32_t task) { return task >= work.tasks.size(); });
  }
  dump.tasks = work.tasks;
  dump.contexts = work.contexts;
  dump.pool = work.pool;
  dump.tasks_missing = work.missing;
  for (std::size_t i = 0; i < dump.threads.size(); ++i) {
    if (i < work.waits.size()) dump.threads[i].waits_for_task = work.waits[i];
    if (i < work.traits.size()) dump.threads[i].traits = work.traits[i];
    if (i < work.queue_positions.size()) dump.threads[i].queue_position = work.queue_positions[i];
  }
}

// Restores the data that an earlier dump of a series had.
void restore(Snapshot& dump, const Recording::EarlierDump* earlier) {
  for (Thread& thread : dump.threads) thread.cpu.reset();
  if (earlier == nullptr) {
    dump.locks.clear();
    dump.unasked.clear();
    dump.crash.reset();
    dump.locks_missing = "a series has the locks of its last dump only";
    return;
  }
  dump.locks = earlier->locks;
  dump.locks_missing = earlier->locks_missing;
  dump.unasked = earlier->unasked;
  dump.crash = earlier->crash;
  restore(dump, earlier->async);
  restore(dump, earlier->handled);
  const std::size_t known = std::min(earlier->cpu.size(), dump.threads.size());
  for (std::size_t i = 0; i < known; ++i) dump.threads[i].cpu = earlier->cpu[i];
}

// The modules by base, as a snapshot has them. Those that a later dump added are behind those of the first dump.
struct SortedModules {
  explicit SortedModules(const std::vector<Module>& modules) : places(modules.size()) {
    std::vector<std::size_t> order(modules.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return modules[i].base; });
    for (const std::size_t i : order) {
      places[i] = static_cast<std::int32_t>(sorted.size());
      sorted.push_back(modules[i]);
    }
  }

  std::vector<Module> sorted;
  std::vector<std::int32_t> places;  // for each module of the recording, its index in `sorted`
};

Thread thread_of(const Recording& recording, const Recording::Sample& sample, const SortedModules& modules) {
  const Recording::ThreadInfo& from = recording.threads[sample.thread];
  Thread thread{.os_id = from.os_id, .clr_id = from.clr_id, .name = from.name, .stack = {},
                .created = from.created, .cpu = from.cpu};
  thread.stack.engine = recording.engine;
  for (const std::uint32_t index : stack_frames(recording, sample.stack)) {
    StackFrame& frame = thread.stack.frames.emplace_back(Frame(recording.frames[index]));
    if (frame.module != Frame::kNone) frame.module = modules.places[static_cast<std::size_t>(frame.module)];
  }
  if (sample.detail != Recording::kNone) thread.skipped = recording.details[sample.detail];
  return thread;
}

void set_head(const Snapshot& dump, Recording& recording) {
  recording.tool_version = dump.tool_version;
  recording.unix_time_ms = dump.unix_time_ms;
  recording.process = dump.process;
  recording.runtime = dump.runtime;
  recording.engine = dump.engine;
}

}  // namespace

void SeriesBuilder::add(const Snapshot& dump) {
  Recording& recording = builder_.recording();
  if (!begun_) {
    set_head(dump, recording);
  } else {
    const std::uint64_t since = dump.unix_time_ms - std::min(dump.unix_time_ms, recording.unix_time_ms);
    time_ms_ = std::max(time_ms_ + 1, since);
  }
  begun_ = true;
  const std::uint64_t time_ns = time_ms_ * kNsOfMs;
  std::vector<std::int32_t> modules, assemblies;  // their numbers in the recording
  for (const Module& module : dump.modules) modules.push_back(static_cast<std::int32_t>(builder_.add_module(module)));
  for (const Assembly& assembly : dump.assemblies) {
    assemblies.push_back(static_cast<std::int32_t>(builder_.add_assembly(assembly)));
  }
  Recording::EarlierDump record{.time_ns = time_ns,
                                .cpu = {},
                                .locks = dump.locks,
                                .locks_missing = dump.locks_missing,
                                .unasked = dump.unasked,
                                .crash = dump.crash,
                                .async = async_work(dump),
                                .handled = handled_exceptions(dump)};
  tasks_ += record.async.tasks.size() + record.async.contexts.size() + record.async.pool.items.size();
  if (tasks_ > kMaxSeriesTasks) {
    for (Lock& lock : record.locks) lock.task_holders.clear();
    std::vector<ThreadTraits> traits = std::move(record.async.traits);
    std::vector<std::uint64_t> positions = std::move(record.async.queue_positions);
    record.async = {};
    record.async.missing = "the tasks of the dumps before fill the file";
    record.async.traits = std::move(traits);
    record.async.queue_positions = std::move(positions);
  }
  for (const Recording::Handled& each : record.handled) exceptions_ += each.exception.objects.size() + 1;
  if (exceptions_ > kMaxSeriesExceptions) record.handled.clear();
  for (const Thread& thread : dump.threads) {
    Recording::Sample sample{.time_ns = time_ns};
    sample.thread = thread_of(thread);
    Stack stack = thread.stack;
    for (StackFrame& frame : stack.frames) {
      if (frame.module != Frame::kNone) frame.module = modules[static_cast<std::size_t>(frame.module)];
      if (frame.il.assembly == Frame::kNone) continue;
      frame.il.assembly = assemblies[static_cast<std::size_t>(frame.il.assembly)];
    }
    sample.stack = builder_.add_stack(stack);
    if (!thread.skipped.empty()) sample.detail = builder_.add_detail(thread.skipped);
    recording.samples.push_back(sample);
    record.cpu.push_back(thread.cpu);
  }
  recording.duration_ns = time_ns;
  recording.some_threads = recording.some_threads || dump.omissions.threads;
  recording.earlier_dumps.push_back(std::move(record));
}

void SeriesBuilder::end() {
  Recording& recording = builder_.recording();
  if (recording.earlier_dumps.empty()) return;
  const Recording::EarlierDump& last = recording.earlier_dumps.back();
  recording.locks = last.locks;
  recording.locks_missing = last.locks_missing;
  recording.unasked = last.unasked;
  recording.crash = last.crash;
}

// A thread that has another name or another start time in another dump gets its own row, so that each dump gets back
// the values that it had.
std::uint32_t SeriesBuilder::thread_of(const Thread& thread) {
  std::vector<Recording::ThreadInfo>& rows = builder_.recording().threads;
  const auto [at, added] = threads_.try_emplace({thread.os_id, thread.clr_id, thread.created, thread.name},
                                                static_cast<std::uint32_t>(rows.size()));
  if (added) rows.push_back({thread.os_id, thread.clr_id, thread.name, thread.created});
  return at->second;
}

Recording to_recording(const Snapshot& dump) {
  RecordingBuilder builder;
  Recording& recording = builder.recording();
  set_head(dump, recording);
  recording.modules = dump.modules;  // the frames' indices refer to this order
  recording.assemblies = dump.assemblies;
  recording.locks = dump.locks;
  recording.locks_missing = dump.locks_missing;
  recording.unasked = dump.unasked;
  recording.crash = dump.crash;
  recording.async = async_work(dump);
  recording.handled = handled_exceptions(dump);
  recording.some_threads = dump.omissions.threads;
  for (const Thread& thread : dump.threads) {
    Recording::Sample sample;
    sample.thread = builder.add_thread(thread.os_id, thread.clr_id, thread.name);
    recording.threads[sample.thread].created = thread.created;
    recording.threads[sample.thread].cpu = thread.cpu;
    sample.stack = builder.add_stack(thread.stack);
    if (!thread.skipped.empty()) sample.detail = builder.add_detail(thread.skipped);
    recording.samples.push_back(sample);
  }
  return std::move(recording);
}

std::size_t dumps_of(const Recording& recording) {
  std::size_t dumps = 1;
  for (std::size_t i = 1; i < recording.samples.size(); ++i) {
    dumps += recording.samples[i].time_ns != recording.samples[i - 1].time_ns;
  }
  return dumps;
}

std::vector<Snapshot> to_series(const Recording& recording) {
  const auto& samples = recording.samples;
  const SortedModules modules(recording.modules);
  std::vector<Snapshot> series;
  auto sample = samples.begin();
  do {
    const std::uint64_t time_ns = samples.empty() ? 0 : sample->time_ns;
    Snapshot& dump = series.emplace_back(Snapshot{.tool_version = recording.tool_version,
                                                  .unix_time_ms = recording.unix_time_ms + time_ns / kNsOfMs,
                                                  .process = recording.process,
                                                  .runtime = recording.runtime,
                                                  .engine = recording.engine,
                                                  .modules = modules.sorted,
                                                  .assemblies = recording.assemblies,
                                                  .threads = {},
                                                  .unasked = recording.unasked,
                                                  .locks = recording.locks,
                                                  .locks_missing = recording.locks_missing,
                                                  .omissions = {.threads = recording.some_threads},
                                                  .crash = recording.crash});
    for (; sample != samples.end() && sample->time_ns == time_ns; ++sample) {
      dump.threads.push_back(thread_of(recording, *sample, modules));
    }
    // Earlier versions had no record of the last dump, whose data are the recording's own.
    const auto earlier = std::ranges::find(recording.earlier_dumps, time_ns, &Recording::EarlierDump::time_ns);
    if (!samples.empty() && earlier != recording.earlier_dumps.end()) {
      restore(dump, &*earlier);
    } else if (sample != samples.end()) {
      restore(dump, nullptr);
    } else {
      restore(dump, recording.async);
      restore(dump, recording.handled);
    }
  } while (sample != samples.end());
  return series;
}

}  // namespace mixwalk
