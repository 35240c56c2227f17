#include "walker/model/series.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "walker/model/recording_builder.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kNsOfMs = 1'000'000;

// Puts the dumps of a series into one recording.
class SeriesBuilder {
 public:
  explicit SeriesBuilder(const std::vector<Snapshot>& series) {
    // A snapshot's modules must be sorted by base, and each dump gets back all of them.
    std::vector<Module> modules;
    for (const Snapshot& dump : series) modules.insert(modules.end(), dump.modules.begin(), dump.modules.end());
    std::ranges::stable_sort(modules, {}, &Module::base);
    for (const Module& module : modules) builder_.add_module(module);
  }

  void add(const Snapshot& dump, std::uint64_t time_ns, bool last) {
    Recording& recording = builder_.recording();
    std::vector<std::int32_t> modules, assemblies;  // their numbers in the recording
    for (const Module& module : dump.modules) modules.push_back(static_cast<std::int32_t>(builder_.add_module(module)));
    for (const Assembly& assembly : dump.assemblies) {
      assemblies.push_back(static_cast<std::int32_t>(builder_.add_assembly(assembly)));
    }
    Recording::EarlierDump earlier{.time_ns = time_ns, .cpu = {}, .locks = {}, .locks_missing = {}, .unasked = {}};
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
      if (last) {
        recording.threads[sample.thread].cpu = thread.cpu;
      } else {
        earlier.cpu.push_back(thread.cpu);
      }
    }
    recording.duration_ns = time_ns;
    recording.some_threads = recording.some_threads || dump.omissions.threads;
    if (last) {
      recording.locks = dump.locks;
      recording.locks_missing = dump.locks_missing;
      recording.unasked = dump.unasked;
      recording.crash = dump.crash;
    } else {
      earlier.locks = dump.locks;
      earlier.locks_missing = dump.locks_missing;
      earlier.unasked = dump.unasked;
      earlier.crash = dump.crash;
      recording.earlier_dumps.push_back(std::move(earlier));
    }
  }

  Recording take() { return std::move(builder_.recording()); }
  Recording& recording() { return builder_.recording(); }

 private:
  // A thread that has another name or another start time in another dump gets its own row, so that each dump gets back
  // the values that it had.
  std::uint32_t thread_of(const Thread& thread) {
    std::vector<Recording::ThreadInfo>& rows = builder_.recording().threads;
    const auto [at, added] = threads_.try_emplace({thread.os_id, thread.clr_id, thread.created, thread.name},
                                                  static_cast<std::uint32_t>(rows.size()));
    if (added) rows.push_back({thread.os_id, thread.clr_id, thread.name, thread.created});
    return at->second;
  }

  RecordingBuilder builder_;
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::string>, std::uint32_t> threads_;
};

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
  const std::size_t known = std::min(earlier->cpu.size(), dump.threads.size());
  for (std::size_t i = 0; i < known; ++i) dump.threads[i].cpu = earlier->cpu[i];
}

}  // namespace

Recording to_recording(const std::vector<Snapshot>& series) {
  std::vector<const Snapshot*> dumps;
  for (const Snapshot& dump : series) {
    if (!dump.threads.empty()) dumps.push_back(&dump);
  }
  if (dumps.empty()) return series.empty() ? Recording{} : to_recording(series.back());
  SeriesBuilder builder(series);
  const Snapshot& first = *dumps.front();
  Recording& header = builder.recording();
  header.tool_version = first.tool_version;
  header.unix_time_ms = first.unix_time_ms;
  header.process = first.process;
  header.runtime = first.runtime;
  header.engine = first.engine;
  std::uint64_t time_ms = 0;
  for (const Snapshot* dump : dumps) {
    if (dump != dumps.front()) {
      const std::uint64_t since = dump->unix_time_ms - std::min(dump->unix_time_ms, first.unix_time_ms);
      time_ms = std::max(time_ms + 1, since);
    }
    builder.add(*dump, time_ms * kNsOfMs, dump == dumps.back());
  }
  return builder.take();
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
  std::vector<Snapshot> series;
  Recording one = recording;  // the tables are those of all dumps; only the samples differ
  one.earlier_dumps.clear();
  for (auto first = samples.begin(); first != samples.end();) {
    const auto last = std::find_if(first, samples.end(), [&](const Recording::Sample& sample) {
      return sample.time_ns != first->time_ns;
    });
    one.samples.assign(first, last);
    Snapshot& dump = series.emplace_back(to_snapshot(one));
    dump.unix_time_ms += first->time_ns / kNsOfMs;
    // This includes the last dump, because a truncated file may end with an earlier dump, and have the locks of the
    // last.
    const auto earlier = std::ranges::find(recording.earlier_dumps, first->time_ns, &Recording::EarlierDump::time_ns);
    if (earlier != recording.earlier_dumps.end()) {
      restore(dump, &*earlier);
    } else if (last != samples.end()) {
      restore(dump, nullptr);
    }
    first = last;
  }
  if (series.empty()) series.push_back(to_snapshot(recording));
  return series;
}

}  // namespace mixwalk
