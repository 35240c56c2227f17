#include "walker/profiler/event_recorder.h"

#include <optional>

#include "unmanaged/win/utf8.h"
#include "walker/profiler/thread_filter.h"
#include "walker/session/win/thread_list.h"

namespace mixwalk {
namespace {

// How many threads are remembered.
constexpr std::size_t kMaxSources = 4'096;

}  // namespace

bool EventRecorder::begin() {
  events_.set_images(sampler_.images());
  LedgerPage& ledger = sampler_.supervisor().ledger();
  if (request_.event == SampleEvent::module_load) {
    image_loads_ = std::make_unique<ImageLoads>(request_.type, sampler_.registry(), sampler_.unload_gate(),
                                                sampler_.image_unloads(), ledger.events);
  }
  return !is_moment(request_.event) || events_.begin(request_, ledger.events, ledger.unjudged_events);
}

void EventRecorder::record(HANDLE stop, std::uint64_t start_ns) {
  start_ns_ = start_ns;
  const HANDLE handles[] = {stop, events_.ready()};
  constexpr DWORD kLookMs = 10;  // an exception may be the last thing that a program does
  std::uint64_t flushed = start_ns;
  while (true) {
    const DWORD which = WaitForMultipleObjects(2, handles, FALSE, kLookMs);
    if (which == WAIT_OBJECT_0) break;
    take_waiting();
    const std::uint64_t now = clock_.now_ns();
    if (which == WAIT_TIMEOUT || now - flushed >= ChunkSender::kFlushNs) {
      chunks_.flush();
      flushed = now;
    }
    if (events_.closing()) break;
  }
  end();
  while (add_next_event()) {
  }
  count_dropped();
}

void EventRecorder::end() noexcept {
  events_.end();
  if (image_loads_) image_loads_->stop();
}

// Takes events as long as there is room for chunks. Otherwise they wait in their own queue. When that queue is full, it
// drops further events.
void EventRecorder::take_waiting() {
  const std::uint64_t begun = clock_.now_ns();
  while (chunks_.has_room() && clock_.now_ns() - begun < ChunkSender::kFlushNs && add_next_event()) {
  }
  count_dropped();
}

// Returns false if no event waits.
bool EventRecorder::add_next_event() {
  if (const auto event = events_.next()) {
    add({event->time_ns, event->value, event->os_id, event->clr_id, event->thread_name},
        [&] { return sampler_.finish_event(*event); }, [&] { return *event->subject; });
    return true;
  }
  const ImageLoad* const load = image_loads_ ? image_loads_->front() : nullptr;
  if (load == nullptr) return false;
  add_image_load(*load);
  image_loads_->pop();
  return true;
}

void EventRecorder::add_image_load(const ImageLoad& load) {
  std::string name(load.thread.name.data(), load.thread.name_bytes);
  // The registry was busy during the load. The thread may have ended since, and its id may belong to another thread.
  if (name.empty() && load.thread.clr_id == 0) name = sampler_.managed_name(load.os_id);
  add({load.time_ns, 1, load.os_id, load.thread.clr_id, std::move(name)},
      [&] { return sampler_.finish_image_load(load, image_loads_->stack(load)); },
      [&] { return to_utf8(image_loads_->name(load)); });
}

template <class Finish, class Subject>
void EventRecorder::add(const EventMoment& moment, Finish finish, Subject subject) {
  ++chunks_.progress().events;
  const Source& source = source_of(moment);
  if (!source.wanted) return;
  const auto images = sampler_.images();
  const std::optional<Stack> stack = finish();
  if (images != sampler_.images()) events_.set_images(sampler_.images());
  if (!stack) return chunks_.count_dropped(1);
  chunks_.count_sample(stack->completeness());
  // Threads that walked themselves at one moment may come in any order.
  chunks_.reach(moment.time_ns > start_ns_ ? moment.time_ns - start_ns_ : 0);
  RecordingBuilder& builder = chunks_.builder();
  chunks_.add({.time_ns = chunks_.reached_ns(),
               .value = moment.value,
               .thread = builder.add_thread(moment.os_id, moment.clr_id,
                                            moment.thread_name.empty() ? source.description : moment.thread_name),
               .stack = builder.add_stack(*stack),
               .detail = builder.add_detail(subject())});
}

const EventRecorder::Source& EventRecorder::source_of(const EventMoment& moment) {
  if (sources_.size() == kMaxSources) sources_.clear();
  const auto [at, added] = sources_.try_emplace({moment.os_id, moment.clr_id});
  Source& source = at->second;
  // A native thread's id may have belonged to another thread before.
  if (added || moment.clr_id == 0) {
    source = {};
    const UniqueHandle thread(OpenThread(THREAD_QUERY_LIMITED_INFORMATION, FALSE, moment.os_id));
    if (thread) source.description = thread_description(thread.get());
    source.wanted = is_wanted(request_, moment.os_id, source.description, moment.thread_name);
  }
  return source;
}

// Dropped events belong to the file that is open when they are counted.
void EventRecorder::count_dropped() noexcept {
  const std::uint64_t all = events_.dropped() + (image_loads_ ? image_loads_->dropped() : 0);
  const std::uint64_t more = all - std::exchange(dropped_, all);
  chunks_.count_dropped(more);
  chunks_.progress().events += more;
}

}  // namespace mixwalk
