#pragma once

#include <windows.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbols/win/profiling_api.h"
#include "unmanaged/win/unique_handle.h"
#include "walker/base/win/tick_clock.h"
#include "walker/profiler/bounded_queue.h"
#include "walker/profiler/clr_interfaces.h"
#include "walker/profiler/event_sample.h"
#include "walker/profiler/module_name_filter.h"
#include "walker/profiler/thread_registry.h"
#include "walker/profiler/unload_gate.h"
#include "walker/session/protocol.h"

namespace mixwalk {

// Stacks at the moments of the runtime's events: an exception thrown, an object allocated, a type or a managed module
// loaded. The thread to which the event happens walks its own stack in the callback and goes on; the agent's thread
// takes the walks from a bounded queue. While the queue is full, events are not walked, only counted as dropped. The
// runtime does not report native images; ImageLoads does.
class EventSource {
 public:
  // How long the end of the process may be delayed for the last walks.
  static constexpr DWORD kMaxDelayMs = 250;

  EventSource(ClrInterfaces& clr, ThreadRegistry& registry, UnloadGate& unload_gate,
              DWORD max_delay_ms = kMaxDelayMs) noexcept
      : clr_(clr), registry_(registry), unload_gate_(unload_gate), max_delay_ms_(max_delay_ms) {}
  EventSource(const EventSource&) = delete;
  EventSource& operator=(const EventSource&) = delete;

  // All functions up to finished() are called on the agent's thread.
  //
  // Sets the list of images with which walks begin. To be called before begin(), and whenever there is a newer list.
  void set_images(std::shared_ptr<const ModuleTable> images) noexcept;
  // `wanted` counts the events that are wanted, from 0 on. `unjudged` counts events at the end of the process of which
  // it is not known whether they are wanted (close()). Both must outlive this object. Returns false if the runtime does
  // not report these events. (It reports allocations only if it was told to when it started.)
  bool begin(const RecordRequest& request, std::atomic<std::uint64_t>& wanted, std::atomic<std::uint64_t>& unjudged);
  // When end() returns, no callback walks any more, all walks of callbacks are available to next(), and the runtime
  // reports the same events as before begin(). The one exception is a thread that the program has suspended in its
  // callback: end() does not wait for it, and no further begin() succeeds.
  void end() noexcept;
  std::unique_ptr<EventSample> next() noexcept;  // null if there is none at the moment
  HANDLE ready() const noexcept { return ready_.get(); }  // set when there may be a next one
  std::uint64_t dropped() const noexcept { return dropped_; }  // since begin()
  // Whether the process is ending. If so, end() is to be called, and finished() as soon as the remaining walks were
  // sent.
  bool closing() const noexcept { return closing_; }
  // To be called when all events have been sent, or can no longer be sent.
  void finished() noexcept;

  // Called by the callbacks, on the thread to which the event happens.
  void thrown(clr::ObjectID object) noexcept;
  void allocated(clr::ClassID type) noexcept;
  // `status` is a failure code if the load has failed; nothing was loaded then.
  //
  // Called while the runtime may hold locks of its loaders. The calls for names trigger no GC, load nothing, and take
  // no lock except the one of a file's metadata. The walk is that of any event: it uses DoStackSnapshot of its own
  // thread, the heap, the function tables, and our locks. It waits for our locks only for a limited time. No code here
  // takes the loader lock, because the owner of the loader lock may wait for the type or the module that this thread
  // loads.
  void loaded_type(clr::ClassID type, HRESULT status) noexcept;
  void loaded_module(clr::ModuleID module, HRESULT status) noexcept;
  // To be called when FunctionIDs and ClassIDs may mean something else from now on.
  void forget_types() noexcept;
  // To be called when the process ends: waits a limited time until the last walks were sent. Events are walked up to
  // end(), or up to the end of that time. Later events are only counted as wanted, so that mixwalk.exe counts them as
  // lost.
  void close() noexcept;

 private:
  // The type or the module to which the event happened.
  struct Subject {
    std::shared_ptr<const std::string> name;
    bool wanted = false;
  };
  // A callback in progress: end() waits for the end of its life.
  class Callback;

  // Walks the calling thread, or counts the event as dropped. `id`: a ClassID; for SampleEvent::module_load, a
  // ModuleID. `counted`: whether the event has been counted as a wanted one.
  void take(SampleEvent event, UINT_PTR id) noexcept;
  void walk(SampleEvent event, UINT_PTR id, bool& counted);
  void stop_walking() noexcept;
  void wait_for_callbacks(DWORD milliseconds) noexcept;
  void count_unwalked(SampleEvent event) noexcept;
  Subject subject_of(SampleEvent event, UINT_PTR id);
  Subject type_of(clr::ClassID type);
  Subject known_type(clr::ClassID type);
  Subject module_of(clr::ModuleID module);
  std::shared_ptr<const ModuleTable> images() noexcept;
  bool is_wanted(const std::string& type_name) const;
  bool is_on_wanted_thread() const noexcept;

  static constexpr std::size_t kSlots = 4096;

  ClrInterfaces& clr_;
  ThreadRegistry& registry_;
  UnloadGate& unload_gate_;
  const DWORD max_delay_ms_;
  TickClock clock_;

  // Written before `event_` is set, and while no callback is running.
  std::string wanted_name_;
  ModuleNameFilter wanted_modules_;
  DWORD mask_ = 0;  // the runtime's mask before begin()
  std::uint64_t every_ = 1;
  std::atomic<std::uint64_t>* wanted_events_ = nullptr;
  std::atomic<std::uint64_t>* unjudged_events_ = nullptr;
  bool ask_clr_ = true;
  bool judges_unwalked_ = false;  // whether an event is wanted is known without the runtime
  std::vector<std::uint32_t> wanted_threads_;  // sorted; empty if threads are not chosen by their ids alone
  std::atomic<bool> lost_{false};  // a callback did not end in time
  UniqueHandle ready_, finished_;

  std::atomic<SampleEvent> event_{SampleEvent::dump};  // `dump` if no event is wanted
  std::atomic<bool> closing_{false};
  std::atomic<SampleEvent> unwalked_{SampleEvent::dump};  // the event that is only counted while the process ends
  std::atomic<std::uint32_t> callbacks_{0};            // callbacks that are walking
  std::atomic<std::uint64_t> seen_{0};                 // how many events of a wanted type or module have happened
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::size_t> bytes_waiting_{0};
  BoundedQueue<std::unique_ptr<EventSample>, kSlots> queue_;

  SRWLOCK images_lock_ = SRWLOCK_INIT;
  std::shared_ptr<const ModuleTable> images_;
  SRWLOCK types_lock_ = SRWLOCK_INIT;
  std::unordered_map<clr::ClassID, Subject> types_;  // the types that were thrown or allocated
};

}  // namespace mixwalk
