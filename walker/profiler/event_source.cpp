#include "walker/profiler/event_source.h"

#include <algorithm>

#include "symbols/win/clr_metadata_source.h"
#include "symbols/win/module_file.h"
#include "unmanaged/win/utf8.h"
#include "walker/profiler/entry_barrier.h"
#include "walker/profiler/short_wait.h"
#include "walker/profiler/slim_lock.h"

namespace mixwalk {
namespace {

// The limit in bytes for the walks that wait to be merged. Their number has its own limit, but deep stacks are large.
constexpr std::size_t kMaxBytesWaiting = 32 << 20;
// How long to wait for callbacks that are running. A walk takes microseconds.
constexpr DWORD kCallbackMs = 5'000;
// How long to wait for callbacks while the process ends. The system may have ended a thread in its callback.
constexpr DWORD kLastCallbackMs = 50;

DWORD monitor_flag(SampleEvent event) {
  switch (event) {
    case SampleEvent::exception: return clr::kMonitorExceptions;
    case SampleEvent::allocation: return clr::kMonitorObjectAllocated;
    case SampleEvent::class_load: return clr::kMonitorClassLoads;
    case SampleEvent::module_load: return clr::kMonitorModuleLoads;
    case SampleEvent::dump:
    case SampleEvent::wall:
    case SampleEvent::cpu: break;
  }
  return 0;
}

// The file name in UTF-16, without its folder. For a module without a file it is the name in its metadata. Empty if the
// runtime refuses.
std::wstring file_name(clr::ICorProfilerInfo3& info, clr::ModuleID module) {
  const std::wstring path = module_file(info, module);
  return path.substr(path.find_last_of(L"\\/") + 1);
}

}  // namespace

class EventSource::Callback {
 public:
  // An event that is not wanted is not counted in callbacks_, because while the process ends, other threads may
  // continue to throw without a pause, and end() must not wait for them.
  Callback(EventSource& source, SampleEvent event) noexcept : source_(source) {
    if (source_.event_ != event) return;
    ++source_.callbacks_;
    wanted_ = source_.event_ == event;
    if (!wanted_) --source_.callbacks_;
  }
  ~Callback() {
    if (wanted_) --source_.callbacks_;
  }
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;
  explicit operator bool() const noexcept { return wanted_; }

 private:
  EventSource& source_;
  bool wanted_ = false;
};

void EventSource::set_images(std::shared_ptr<const ModuleTable> images) noexcept {
  SlimLock lock(images_lock_);
  if (lock) images_.swap(images);
}

std::shared_ptr<const ModuleTable> EventSource::images() noexcept {
  SlimLock lock(images_lock_);
  return lock ? images_ : nullptr;
}

bool EventSource::begin(const RecordRequest& request, std::atomic<std::uint64_t>& wanted,
                        std::atomic<std::uint64_t>& unjudged) {
  // A callback that has not ended may continue at any moment, and would read the members that are written here.
  if (lost_ || closing_) return false;
  ready_ = UniqueHandle(CreateEventW(nullptr, FALSE, FALSE, nullptr));
  finished_ = UniqueHandle(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  if (!ready_ || !finished_ || FAILED(clr_.info->GetEventMask(&mask_))) return false;
  if (request.event == SampleEvent::allocation && (mask_ & clr::kEnableObjectAllocated) == 0) {
    return false;
  }
  wanted_name_ = request.type;
  wanted_modules_ = ModuleNameFilter(request.type);
  every_ = request.every;
  ask_clr_ = request.sampling.engine != Engine::copy;
  judges_unwalked_ = request.type.empty() && request.thread_names.empty();
  // The recorder chooses threads by their names later, when their descriptions can be read.
  wanted_threads_.clear();
  if (request.thread_names.empty()) wanted_threads_ = request.sampling.thread_ids;
  std::ranges::sort(wanted_threads_);
  wanted_events_ = &wanted;
  unjudged_events_ = &unjudged;
  wanted = 0;
  unjudged = 0;
  seen_ = 0;
  dropped_ = 0;
  forget_types();
  event_ = request.event;
  if (closing_) {
    event_ = SampleEvent::dump;
    return false;
  }
  if (SUCCEEDED(clr_.set_events(mask_ | monitor_flag(request.event)))) return true;
  event_ = SampleEvent::dump;
  return false;
}

void EventSource::end() noexcept {
  if (closing_) {
    stop_walking();  // the runtime is ending, so it is not asked to stop its events
  } else if (event_.exchange(SampleEvent::dump) != SampleEvent::dump) {
    clr_.set_events(mask_);
  }
  wait_for_callbacks(kCallbackMs);
}

// Waits only for a limited time, because the program may have ended or suspended a thread in its callback.
void EventSource::wait_for_callbacks(DWORD milliseconds) noexcept {
  const bool over = wait_shortly([this] { return callbacks_ == 0; }, milliseconds);
  lost_ = lost_ || !over;
}

std::unique_ptr<EventSample> EventSource::next() noexcept {
  std::unique_ptr<EventSample> sample;
  if (queue_.pop(sample)) bytes_waiting_ -= sample->bytes();
  return sample;
}

void EventSource::finished() noexcept {
  if (finished_) SetEvent(finished_.get());
}

void EventSource::close() noexcept {
  closing_ = true;
  if (event_ == SampleEvent::dump) return;
  SetEvent(ready_.get());
  WaitForSingleObject(finished_.get(), max_delay_ms_);
  // After its Shutdown callback has returned, the runtime must not be asked.
  stop_walking();
  wait_for_callbacks(kLastCallbackMs);
}

// The order ensures that an event is walked, or counted, or is too late for both because the process has ended.
void EventSource::stop_walking() noexcept {
  if (const SampleEvent event = event_; event != SampleEvent::dump) unwalked_ = event;
  event_ = SampleEvent::dump;
}

// The runtime may not be asked any more whether an event is of the wanted type, or on a thread with a wanted name.
void EventSource::count_unwalked(SampleEvent event) noexcept {
  if (unwalked_ != event || !is_on_wanted_thread()) return;
  if (!judges_unwalked_) {
    ++*unjudged_events_;
  } else if (++seen_ % every_ == 0) {
    ++*wanted_events_;
  }
}

bool EventSource::is_on_wanted_thread() const noexcept {
  return wanted_threads_.empty() || std::ranges::binary_search(wanted_threads_, GetCurrentThreadId());
}

void EventSource::thrown(clr::ObjectID object) noexcept {
  const Callback callback(*this, SampleEvent::exception);
  if (!callback) return count_unwalked(SampleEvent::exception);
  // This is done now, because the object may be moved as soon as this function returns.
  clr::ClassID type = 0;
  if (FAILED(clr_.info->GetClassFromObject(object, &type))) type = 0;
  take(SampleEvent::exception, type);
}

void EventSource::allocated(clr::ClassID type) noexcept {
  const Callback callback(*this, SampleEvent::allocation);
  if (!callback) return count_unwalked(SampleEvent::allocation);
  take(SampleEvent::allocation, type);
}

void EventSource::loaded_type(clr::ClassID type, HRESULT status) noexcept {
  if (FAILED(status)) return;
  const Callback callback(*this, SampleEvent::class_load);
  if (!callback) return count_unwalked(SampleEvent::class_load);
  take(SampleEvent::class_load, type);
}

void EventSource::loaded_module(clr::ModuleID module, HRESULT status) noexcept {
  if (FAILED(status)) return;
  const Callback callback(*this, SampleEvent::module_load);
  if (!callback) return count_unwalked(SampleEvent::module_load);
  take(SampleEvent::module_load, module);
}

void EventSource::take(SampleEvent event, UINT_PTR id) noexcept {
  bool counted = false;
  if (run_guarded([&] { walk(event, id, counted); }) == WorkEnd::done) return;
  if (!counted) ++*wanted_events_;
  ++dropped_;
}

void EventSource::walk(SampleEvent event, UINT_PTR id, bool& counted) {
  if (!is_on_wanted_thread()) return;
  Subject subject;
  if (!wanted_name_.empty()) {
    subject = subject_of(event, id);
    if (!subject.wanted) return;
  }
  if (++seen_ % every_ != 0) return;
  ++*wanted_events_;
  counted = true;
  if (bytes_waiting_ >= kMaxBytesWaiting || queue_.full()) {
    ++dropped_;
    return;
  }
  const UnloadGate::Mark mark = unload_gate_.mark();
  const auto images = this->images();
  if (!images) {
    ++dropped_;
    return;
  }
  auto sample = walk_this_thread(clr_, ask_clr_, *images);
  sample->time_ns = clock_.now_ns();
  sample->value = every_;
  sample->mark = mark;
  sample->subject = subject.name ? subject.name : subject_of(event, id).name;
  sample->os_id = GetCurrentThreadId();
  const ThreadClaim claim(registry_, sample->os_id);
  if (claim.entry()) {
    sample->clr_id = claim.entry()->clr_id;
    sample->thread_name = claim.entry()->name;
  }
  const std::size_t bytes = sample->bytes();
  bytes_waiting_ += bytes;
  if (queue_.push(sample)) {
    SetEvent(ready_.get());
  } else {
    bytes_waiting_ -= bytes;
    ++dropped_;
  }
}

EventSource::Subject EventSource::subject_of(SampleEvent event, UINT_PTR id) {
  if (event == SampleEvent::module_load) return module_of(id);
  // Each type is loaded only once, so keeping its name would save nothing.
  return event == SampleEvent::class_load ? type_of(id) : known_type(id);
}

EventSource::Subject EventSource::module_of(clr::ModuleID module) {
  const std::wstring name = file_name(*clr_.info, module);
  return {std::make_shared<const std::string>(name.empty() ? "?" : to_utf8(name)),
          wanted_modules_.matches(name)};
}

EventSource::Subject EventSource::known_type(clr::ClassID type) {
  Subject known;
  if (TryAcquireSRWLockShared(&types_lock_)) {
    const auto found = types_.find(type);
    if (found != types_.end()) known = found->second;
    ReleaseSRWLockShared(&types_lock_);
  }
  if (known.name) return known;
  const Subject named = type_of(type);
  SlimLock lock(types_lock_);
  if (lock) types_.emplace(type, named);
  return named;
}

// No lock of ours is held here, because the runtime takes its own locks.
EventSource::Subject EventSource::type_of(clr::ClassID type) {
  ClrMetadataSource names(clr_.info.get(), clr_.info8.get());
  auto name = std::make_shared<const std::string>(names.type_name(type));
  return {name, is_wanted(*name)};
}

// "IOException" means System.IO.IOException as well, and "List" any List<…>.
bool EventSource::is_wanted(const std::string& type_name) const {
  if (type_name == wanted_name_) return true;
  const std::string open = type_name.substr(0, type_name.find('<'));
  return open == wanted_name_ || open.ends_with("." + wanted_name_) ||
         open.ends_with("+" + wanted_name_);
}

void EventSource::forget_types() noexcept {
  SlimLock lock(types_lock_);
  if (lock) types_.clear();
}

}  // namespace mixwalk
