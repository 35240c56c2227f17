#pragma once

#include <windows.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "walker/base/win/tick_clock.h"
#include "walker/profiler/chunk_sender.h"
#include "walker/profiler/event_source.h"
#include "walker/profiler/image_loads.h"
#include "walker/profiler/sampler.h"

namespace mixwalk {

// Makes samples of events: of the walks of an EventSource and of the copies of ImageLoads. Not frozen-safe; runs on the
// agent's thread, and freezes nothing.
class EventRecorder {
 public:
  EventRecorder(const RecordRequest& request, Sampler& sampler, EventSource& events, ChunkSender& chunks)
      : request_(request), sampler_(sampler), events_(events), chunks_(chunks) {}

  // To be called after Sampler::begin(), and before the creation of the threads that end only with the recording.
  // Returns false if the runtime does not report such events. In a recording that is not of events, nothing is
  // reported.
  bool begin();
  // To be called when those threads are created.
  void begin_image_loads() {
    if (image_loads_) image_loads_->begin();
  }
  // Records until `stop` is set, or until the runtime closes. `start_ns`: when the recording began, by TickClock.
  void record(HANDLE stop, std::uint64_t start_ns);
  // Afterwards no callback walks any more. May be called again.
  void end() noexcept;
  // To be called when all events have been sent.
  void finished() noexcept { events_.finished(); }

 private:
  // The description of a thread. The key is its two ids.
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
  };

  void take_waiting();
  bool add_next_event();
  // `finish` gives the stack its names; it returns nothing if code was unloaded before that. `subject` says what the
  // event happened to.
  template <class Finish, class Subject>
  void add(const EventMoment& moment, Finish finish, Subject subject);
  void add_image_load(const ImageLoad& load);
  const Source& source_of(const EventMoment& moment);
  void count_dropped() noexcept;

  const RecordRequest& request_;
  Sampler& sampler_;
  EventSource& events_;
  ChunkSender& chunks_;
  TickClock clock_;
  std::uint64_t start_ns_ = 0;
  std::unique_ptr<ImageLoads> image_loads_;  // for SampleEvent::module_load
  std::map<std::pair<std::uint32_t, std::uint64_t>, Source> sources_;
  std::uint64_t dropped_ = 0;  // how many dropped events are counted
};

}  // namespace mixwalk
