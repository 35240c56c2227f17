#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "walker/model/snapshot.h"
#include "walker/model/standing.h"

namespace mixwalk {

// The reason why the samples of a recording were taken. This also decides what Sample::value counts.
enum class SampleEvent : std::uint8_t {
  dump,        // every thread once, at one moment; value: 1
  wall,        // a thread's stack every period; value: the wall time it stands for, in ns
  cpu,         // as wall, but only if the thread used the CPU since its last sample; value: ns
  exception,   // where an exception was thrown; value: 1
  allocation,  // where an object was allocated; value: the allocations it stands for
  class_load,  // where the runtime loaded a type; value: 1
  module_load, // where a module was loaded, managed or native; value: 1
};

// Whether each sample of this event is of a single moment. `Sample::detail` then names what the event happened to: the
// type that was thrown, allocated or loaded, or the file name of the module that was loaded.
constexpr bool is_moment(SampleEvent event) noexcept {
  return event == SampleEvent::exception || event == SampleEvent::allocation ||
         event == SampleEvent::class_load || event == SampleEvent::module_load;
}

// Samples of one process over time, with everything that repeats interned. It is a value. Code that makes one from
// untrusted data must check all indices.
struct Recording {
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;

  // A stack is the path from its leaf node to the root. `parent` is the node of the caller.
  struct Node {
    std::uint32_t parent = kNone;  // less than the node's own index; kNone at the thread's root
    std::uint32_t frame = 0;       // index into frames
    bool operator==(const Node&) const = default;
  };
  struct ThreadInfo {
    std::uint32_t os_id = 0;
    std::uint64_t clr_id = 0;  // 0 if it never ran managed code
    std::string name;          // the last one known; empty if none
    // In a dump, as Thread has them.
    std::uint64_t created = 0;
    std::optional<std::uint64_t> cpu = std::nullopt;
    bool operator==(const ThreadInfo&) const = default;
  };
  struct Sample {
    std::uint64_t time_ns = 0;     // since Recording::unix_time_ms; never less than in the last sample
    std::uint64_t value = 1;       // see SampleEvent
    std::uint32_t thread = 0;      // index into threads
    std::uint32_t stack = kNone;   // leaf node; kNone if there is no stack: `detail` says why
    std::uint32_t detail = kNone;  // index into details: what is_moment() says, or why there is no stack
    Standing standing = Standing::unknown;
    bool operator==(const Sample&) const = default;
  };
  // The asynchronous work of a dump: what Snapshot has of it, and of each of the dump's samples what Thread has.
  struct AsyncWork {
    std::vector<AsyncTask> tasks;
    std::vector<AsyncContext> contexts;
    ThreadPoolState pool;
    std::string missing;  // Snapshot::tasks_missing
    // Thread::waits_for_task, traits and queue_position. If there are fewer values than samples, the others have none.
    std::vector<std::uint32_t> waits;
    std::vector<ThreadTraits> traits;
    std::vector<std::uint64_t> queue_positions;
    bool operator==(const AsyncWork&) const = default;
  };
  // An exception that a thread of a dump handles.
  struct Handled {
    std::uint32_t sample = 0;  // of the thread: its number among those of the dump
    HandledException exception;
    bool operator==(const Handled&) const = default;
  };
  // The data of a dump that its samples, which have all the same time, do not contain.
  struct EarlierDump {
    std::uint64_t time_ns = 0;  // the time of its samples
    // Thread::cpu of each of these samples. If there are fewer values than samples, the others are unknown.
    std::vector<std::optional<std::uint64_t>> cpu;
    std::vector<Lock> locks;
    std::string locks_missing;
    std::string unasked;
    std::optional<Crash> crash = std::nullopt;
    AsyncWork async = {};
    std::vector<Handled> handled = {};
    bool operator==(const EarlierDump&) const = default;
  };

  std::string tool_version;
  std::uint64_t unix_time_ms = 0;  // when the recording began
  std::uint64_t duration_ns = 0;
  std::uint64_t period_ns = 0;  // wall, cpu: the requested time between two samples of a thread; else 0
  SampleEvent event = SampleEvent::dump;
  Process process;
  Runtime runtime;
  Engine engine = Engine::snapshot;  // the engine that was asked for
  std::uint64_t dropped = 0;         // samples lost to a slow reader
  std::vector<Module> modules;       // in the order in which they were met
  std::vector<Assembly> assemblies;  // of managed frames, in the order in which they were met
  std::vector<ThreadInfo> threads;   // in the order in which they were met
  std::vector<std::string> details;
  std::vector<Frame> frames;  // a gap knows why frames are missing
  std::vector<Node> nodes;
  std::vector<Sample> samples;
  // For a dump, as in Snapshot; for a series of dumps (series.h), those of the last dump.
  std::vector<Lock> locks;
  std::string locks_missing;
  std::string unasked;
  std::optional<Crash> crash = std::nullopt;
  bool some_threads = false;  // Omissions::threads, the same for all dumps of a series
  AsyncWork async = {};  // for a dump; empty for a series
  std::vector<Handled> handled = {};  // the same; of each thread innermost first
  // For a series: the data of each dump, in order. Earlier versions left out the last one.
  std::vector<EarlierDump> earlier_dumps;

  bool operator==(const Recording&) const = default;
};

// The frames of a stack, leaf first, as indices into `recording.frames`. Empty if `stack` is kNone.
std::vector<std::uint32_t> stack_frames(const Recording& recording, std::uint32_t stack);

}  // namespace mixwalk
