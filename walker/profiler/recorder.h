#pragma once

#include <windows.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "walker/base/win/tick_clock.h"
#include "walker/model/duration_histogram.h"
#include "walker/model/recording_builder.h"
#include "walker/profiler/bounded_queue.h"
#include "walker/profiler/entry_barrier.h"
#include "walker/profiler/event_source.h"
#include "walker/profiler/group_size.h"
#include "walker/profiler/image_loads.h"
#include "walker/profiler/pipe_end.h"
#include "walker/profiler/record_budget.h"
#include "walker/profiler/sampler.h"
#include "walker/profiler/thread_cpu_clock.h"
#include "walker/store/recording_writer.h"

namespace mixwalk {

// Records until it is told to stop, and sends the records of .mixwalk files: repeated samples of all threads, or the
// walks of an EventSource and the copies of ImageLoads. Runs on the agent's thread. That thread samples; one more
// thread writes to the pipe, and one reads from it. A Recorder lives on the heap (Agent::with_sampler says why).
//
// The target never waits for mixwalk.exe: chunks go through a bounded ring, and while the ring is full, samples are
// counted as dropped instead of being taken. The memory in the target is bounded as well, since a new file begins when
// the tables of interned frames have reached a certain size.
class Recorder {
 public:
  Recorder(Sampler& sampler, EventSource& events, PipeEnd& pipe, const Hello& hello)
      : sampler_(sampler), events_(events), pipe_(pipe), hello_(hello) {}

  // Records until StopRequest. Returns false if the pipe broke, the process is ending, or the runtime does not report
  // such events.
  bool record(const RecordRequest& request);

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

  // For events: the description of a thread. The key is its two ids.
  struct Source {
    std::string description;
    bool wanted = false;
  };
  // An event, and the thread to which it happened.
  struct EventMoment {
    std::uint64_t time_ns = 0;  // TickClock
    std::uint64_t value = 1;
    std::uint32_t os_id = 0;
    std::uint64_t clr_id = 0;
    std::string thread_name;  // the managed name; empty if none
    std::string subject;
  };

  class Ending;

  void write_chunks();
  void count(Completeness completeness) noexcept;
  void listen();
  void begin_file();
  bool record_periods();
  bool record_events();
  void end_events() noexcept;
  void take_waiting();
  void add_event(EventSample& event);
  void add_image_load(const ImageLoad& load);
  bool add_next_event();
  const Source& source_of(std::uint32_t os_id, std::uint64_t clr_id, const std::string& name);
  void add_event_sample(const EventMoment& moment, const Source& source,
                        const std::optional<Stack>& stack);
  std::uint64_t dropped_events() const noexcept;
  void count_dropped_events() noexcept;
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
  bool is_refused(std::uint64_t most) const noexcept;
  bool add_sample(std::uint64_t now, const Due& due, const Sampler::Sample& sample);
  std::uint64_t own_cpu_time() noexcept;
  void keep_budget(std::uint64_t now);  // `now`: the time of clock_
  void find_threads();
  bool is_wanted(std::uint32_t os_id, const std::string& description,
                 const std::string& managed) const;
  void add_new_tables();
  bool has_room() const noexcept;
  void flush();
  bool drain();

  Sampler& sampler_;
  EventSource& events_;
  PipeEnd& pipe_;
  const Hello& hello_;
  RecordRequest request_;
  std::uint64_t unix_time_ms_ = 0;
  TickClock clock_;
  std::uint64_t start_ns_ = 0;

  std::optional<RecordingBuilder> builder_;
  StringSink sink_;
  std::optional<RecordingWriter> writer_;
  bool new_file_ = false;  // the next chunk begins a new file
  std::optional<RecordedBytes> pending_;  // a chunk that was made when the ring was full
  BoundedQueue<RecordedBytes, 32> ring_;
  std::atomic<std::size_t> bytes_in_flight_{0};

  RecordProgress progress_;
  DurationHistogram frozen_, stopping_;
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
  std::uint64_t last_tick_ns_ = 0;  // the time of the newest sample
  std::unique_ptr<ImageLoads> image_loads_;  // for SampleEvent::module_load, as long as record() runs
  std::map<std::pair<std::uint32_t, std::uint64_t>, Source> sources_;
  std::uint64_t dropped_events_ = 0;  // how many of dropped_events() are included in dropped_
  std::uint64_t dropped_ = 0;       // dropped_ and file_samples_ belong to the file that is being made
  std::string problem_;  // why the recording cannot go on, or has no sample; empty if there is no reason
  std::uint32_t refusal_ = 0;  // Sampler::Sample::refusal of the last thread that had one
  std::uint64_t refusals_ = 0;
  std::uint64_t dropped_written_ = 0;  // how many of dropped_ a chunk has reported
  std::uint64_t events_written_ = 0;   // how many of progress_.events a chunk has reported
  std::uint64_t file_samples_ = 0;
  DWORD writer_id_ = 0, listener_id_ = 0;

  UniqueHandle stop_, more_;          // events: the recording is to end; the ring is not empty
  std::atomic<bool> broken_{false};   // whether the pipe is broken
  std::atomic<bool> finished_{false}; // no more chunks will come
  std::atomic<WorkEnd> worker_end_{WorkEnd::done};  // what failed in the writer or the listener
};

}  // namespace mixwalk
