#pragma once

#include <windows.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "walker/base/win/tick_clock.h"
#include "walker/profiler/chunk_sender.h"
#include "walker/profiler/entry_barrier.h"
#include "walker/profiler/event_recorder.h"
#include "walker/profiler/group_size.h"
#include "walker/profiler/pipe_end.h"
#include "walker/profiler/record_budget.h"
#include "walker/profiler/sampler.h"
#include "walker/profiler/thread_cpu_clock.h"

namespace mixwalk {

// Records until it is told to stop: repeated samples of all threads, which this class takes, or events (EventRecorder).
// Not frozen-safe; runs on the agent's thread. One more thread sends what is recorded (ChunkSender), and one waits for
// the request to stop. A Recorder lives on the heap (Agent::with_sampler says why).
class Recorder {
 public:
  Recorder(Sampler& sampler, EventSource& events, PipeEnd& pipe, const Hello& hello, const RecordRequest& request);

  // Records until StopRequest; to be called once. Returns false if the pipe broke, the process is ending, or the
  // runtime does not report such events.
  bool record();

 private:
  // A thread that is sampled.
  struct Followed {
    explicit Followed(Supervisor& supervisor) : thread(supervisor) {}
    WindowsThread thread;
    std::string description;
    CpuMark cpu;            // at its last sample
    Sampler::Last last;     // where the thread was at its last sample
    std::uint32_t stack = Recording::kNone;  // the node of its last stack
    Completeness completeness = Completeness::partial;  // of the last stack
    bool moves = true;  // its last two stacks were different, or it has no stack yet
    std::uint64_t missed_value = 0;  // of moments that gave no sample; it is added to the next sample
  };

  class Shutdown;

  void listen();
  bool record_periods();
  // A thread that is to be sampled at this tick.
  struct Due {
    std::uint32_t os_id = 0;
    Followed* followed = nullptr;
    std::uint64_t sample_value = 0;  // the value of its sample
  };
  // Takes one sample of each thread, `now` nanoseconds after the beginning. Returns false if the process is ending, or
  // nothing can be frozen any more.
  bool tick(std::uint64_t now);
  void choose_due(std::uint64_t value);
  bool sample_in_groups(std::uint64_t now, std::span<Due> due);
  bool sample_alone(std::uint64_t now, const Due& due, const Sampler::Sample* in_group = nullptr);
  bool may_freeze();
  bool is_refused(std::uint64_t most) noexcept;
  bool add_sample(std::uint64_t now, const Due& due, const Sampler::Sample& sample);
  std::uint64_t own_cpu_time() noexcept;
  void keep_budget(std::uint64_t now);  // `now`: the time of clock_
  void find_threads();

  Sampler& sampler_;
  PipeEnd& pipe_;
  const RecordRequest request_;  // a copy, because this object is on the heap and the agent's request is on a stack
  const UniqueHandle stop_;  // an event: the recording is to end
  ChunkSender chunks_;
  EventRecorder events_;
  TickClock clock_;
  std::uint64_t start_ns_ = 0;

  std::vector<Due> due_;
  GroupSize group_size_;
  std::map<std::uint32_t, std::unique_ptr<Followed>> threads_;
  std::optional<RecordBudget> budget_;
  CpuCounters cpu_counters_;
  ThreadCpuClock cpu_clock_{cpu_counters_};
  CpuMark own_cpu_, writer_cpu_;
  std::uint64_t own_cpu_ns_ = 0;  // of both threads, since the marks were set first
  HANDLE writer_handle_ = nullptr;  // as long as record() runs
  std::uint64_t find_threads_ns_ = 0;  // when threads are looked for next
  std::string problem_;  // why the recording cannot go on, or has no sample; empty if there is no reason
  std::uint32_t refusal_ = 0;  // Sampler::Sample::refusal of the last thread that had one
  std::uint64_t refusals_ = 0;
  DWORD writer_id_ = 0, listener_id_ = 0;
  std::atomic<WorkEnd> worker_end_{WorkEnd::done};  // what failed in the writer or the listener
};

}  // namespace mixwalk
