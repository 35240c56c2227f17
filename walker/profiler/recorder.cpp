#include "walker/profiler/recorder.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <stdexcept>

#include "unmanaged/win/utf8.h"
#include "walker/base/win/file_time.h"
#include "walker/base/win/precise_wait.h"
#include "walker/profiler/worker_thread.h"
#include "walker/session/win/thread_list.h"

namespace mixwalk {
namespace {

// Tables of this size are some 2 MiB, names included.
constexpr std::size_t kFileFrames = 5'000;
constexpr std::size_t kFileNodes = 20'000;
constexpr std::size_t kFileOthers = 4'000;  // each of modules, threads, and details
constexpr std::uint64_t kFileSamples = 1 << 24;  // an eighth of what a file may hold
// How many threads of events the recorder remembers.
constexpr std::size_t kMaxSources = 4'096;
// If the system has refused the registers of threads so many times, and there is no sample, the recording ends.
constexpr std::uint64_t kMostRefusals = 100;
// How often samples are sent. If the pipe breaks, at most the samples of this time are lost.
constexpr std::uint64_t kFlushNs = 100'000'000;
// The limit for data that wait for the reader.
constexpr std::size_t kMaxBytesInFlight = 8 << 20;
// How often the threads of the process are listed. To list them, the system goes through the threads of all processes,
// which takes long on a busy machine. If it does, the threads are listed less often, so that listing takes no more than
// a tenth of the time, but at least every 2 s, so that a thread that lives for some seconds is seen.
constexpr std::uint64_t kFindThreadsNs = 250'000'000;
constexpr std::uint64_t kFindThreadsShare = 10;
constexpr std::uint64_t kFindThreadsSeldomNs = 2'000'000'000;

// std::chrono is not used, because its clock is that of winpthreads. This DLL must not use winpthreads
// (no_winpthreads).
std::uint64_t unix_time_ms() {
  FILETIME now;
  GetSystemTimeAsFileTime(&now);
  return (ticks_of(now) - kTicksUntil1970) / kTicksOfMs;
}

}  // namespace

// Ends a recording, for whatever reason it ends. Afterwards no callback walks any more, and the destructor waits for
// the recording's threads no longer than they need. The writer may finish its current message, so that a last message
// can follow.
class Recorder::Ending {
 public:
  Ending(Recorder& recorder, WorkerThread& writer, WorkerThread& listener) noexcept
      : recorder_(recorder), writer_(writer), listener_(listener) {}
  ~Ending() {
    recorder_.end_events();
    recorder_.broken_ = recorder_.finished_ = true;
    SetEvent(recorder_.more_.get());
    for (DWORD wait = kLastMessageMs; !writer_.has_ended(wait); wait = kLookMs) {
      recorder_.pipe_.cancel_send();
    }
    recorder_.events_.finished();
    while (!listener_.has_ended(0)) {
      recorder_.pipe_.cancel_receive();
      listener_.has_ended(kLookMs);
    }
  }
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;

 private:
  static constexpr DWORD kLastMessageMs = 1000, kLookMs = 10;

  Recorder& recorder_;
  WorkerThread& writer_;
  WorkerThread& listener_;
};

bool Recorder::record(const RecordRequest& request) {
  request_ = request;
  stop_ = UniqueHandle(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  more_ = UniqueHandle(CreateEventW(nullptr, FALSE, FALSE, nullptr));
  if (!stop_ || !more_) throw std::bad_alloc();
  // Nothing is frozen for events, so no canary is needed.
  DumpRequest sampling = request.sampling;
  if (is_moment(request.event)) sampling.probe = ProbePolicy::never;
  sampler_.begin(sampling);
  // This comes before the creation of the threads that end only with the recording.
  events_.set_images(sampler_.images());
  if (request.event == SampleEvent::module_load) {
    image_loads_ = std::make_unique<ImageLoads>(
        request.type, sampler_.registry(), sampler_.unload_gate(), sampler_.image_unloads(),
        sampler_.supervisor().ledger().events);
  }
  LedgerPage& ledger = sampler_.supervisor().ledger();
  if (is_moment(request.event) && !events_.begin(request, ledger.events, ledger.unjudged_events)) {
    pipe_.send(Problem{"the runtime does not tell of these events, or a recording of them before this one "
                       "could not be ended"});
    return false;
  }
  const auto failed = [this](WorkEnd end) {
    worker_end_ = end;
    broken_ = true;
    SetEvent(stop_.get());
  };
  WorkerThread writer([this] { write_chunks(); }, failed);
  WorkerThread listener([this] { listen(); }, failed);
  const Ending ending(*this, writer, listener);
  if (image_loads_) image_loads_->begin();
  if (!writer || !listener) throw std::bad_alloc();
  writer_id_ = writer.id();
  writer_handle_ = writer.handle();
  listener_id_ = listener.id();

  unix_time_ms_ = unix_time_ms();
  begin_file();
  const Deadline deadline(Supervisor::kStartMs);
  if (!writer.begun_within(deadline.remaining_ms()) || !listener.begun_within(deadline.remaining_ms())) {
    static_assert(Supervisor::kStartMs == 20'000);
    pipe_.send(Problem{"mixwalk.dll's threads could not be started in the target within 20 s"});
    return false;
  }
  start_ns_ = clock_.now_ns();
  const bool alive = is_moment(request.event) ? record_events() : record_periods();
  end_events();
  builder_->recording().duration_ns = clock_.now_ns() - start_ns_;
  const bool whole = drain();
  writer.join();
  events_.finished();
  if (worker_end_ == WorkEnd::no_memory) throw std::bad_alloc();
  if (worker_end_ == WorkEnd::defect) throw std::runtime_error("a worker failed");
  if (problem_.empty() && is_refused(1)) {
    problem_ = "the system refused the registers of its threads (error " + std::to_string(refusal_) +
               "), which security software can cause, so no sample was taken";
  }
  if (!problem_.empty()) {
    pipe_.send(Problem{problem_});
    return false;
  }
  listener.join();  // it has received the request to stop, or the pipe is broken
  if (!alive || !whole) return false;
  return pipe_.send(RecordDone{sampler_.breaker()});
}

// The CPU time of the two threads that do the work: this one and the writer.
std::uint64_t Recorder::own_cpu_time() noexcept {
  own_cpu_ns_ += cpu_clock_.since(GetCurrentThread(), own_cpu_) + cpu_clock_.since(writer_handle_, writer_cpu_);
  return own_cpu_ns_;
}

void Recorder::keep_budget(std::uint64_t now) {
  if (!budget_->is_due(now)) return;
  budget_->measure(now, own_cpu_time());
  progress_.slowed = budget_->lengthened();
}

bool Recorder::record_periods() {
  std::uint64_t next = start_ns_, flushed = 0;
  PreciseWait pace;
  budget_.emplace(request_.budget / double{kMaxBudget}, GetActiveProcessorCount(ALL_PROCESSOR_GROUPS),
                  request_.period_ns);
  own_cpu_ = cpu_clock_.mark(GetCurrentThread());
  writer_cpu_ = cpu_clock_.mark(writer_handle_);
  budget_->begin(start_ns_, own_cpu_ns_);
  while (true) {
    const std::uint64_t before = clock_.now_ns();
    if (pace.wait(stop_.get(), next > before ? next - before : 0) != WAIT_TIMEOUT) return true;
    const std::uint64_t elapsed = clock_.now_ns() - start_ns_;
    if (!tick(elapsed)) return false;
    budget_->end_round();
    const std::uint64_t now = clock_.now_ns();
    keep_budget(now);
    // After a tick that took longer than the period, the missed ticks are left out. The value of each sample says for
    // how much time it stands.
    next = std::max(next + budget_->period_ns(), now);
    // The program may end before the next tick, and unsent data is then lost.
    if (now - start_ns_ - flushed >= kFlushNs || next - now >= kFlushNs) {
      flush();
      flushed = now - start_ns_;
    }
  }
}

bool Recorder::record_events() {
  const HANDLE handles[] = {stop_.get(), events_.ready()};
  constexpr DWORD kLookMs = 10;  // an exception may be the last thing that a program does
  std::uint64_t flushed = start_ns_;
  while (true) {
    const DWORD which = WaitForMultipleObjects(2, handles, FALSE, kLookMs);
    if (which == WAIT_OBJECT_0) break;
    take_waiting();
    const std::uint64_t now = clock_.now_ns();
    if (which == WAIT_TIMEOUT || now - flushed >= kFlushNs) {
      flush();
      flushed = now;
    }
    if (events_.closing()) break;
  }
  end_events();
  while (add_next_event()) {
  }
  count_dropped_events();
  return true;
}

void Recorder::end_events() noexcept {
  events_.end();
  if (image_loads_) image_loads_->stop();
}

// Takes events as long as there is room for chunks. Otherwise they wait in their own queue. When that queue is full, it
// drops further events.
void Recorder::take_waiting() {
  const std::uint64_t begun = clock_.now_ns();
  while (has_room() && clock_.now_ns() - begun < kFlushNs && add_next_event()) {
  }
  count_dropped_events();
}

// Returns false if no event waits.
bool Recorder::add_next_event() {
  if (const auto event = events_.next()) {
    add_event(*event);
    return true;
  }
  const ImageLoad* const load = image_loads_ ? image_loads_->front() : nullptr;
  if (load == nullptr) return false;
  add_image_load(*load);
  image_loads_->pop();
  return true;
}

std::uint64_t Recorder::dropped_events() const noexcept {
  return events_.dropped() + (image_loads_ ? image_loads_->dropped() : 0);
}

// Dropped events belong to the file that is open when they are counted.
void Recorder::count_dropped_events() noexcept {
  const std::uint64_t all = dropped_events();
  const std::uint64_t more = all - std::exchange(dropped_events_, all);
  dropped_ += more;
  progress_.events += more;
}

void Recorder::add_event(EventSample& event) {
  ++progress_.events;
  const Source& source = source_of(event.os_id, event.clr_id, event.thread_name);
  if (!source.wanted) return;
  const auto images = sampler_.images();
  const std::optional<Stack> stack = sampler_.finish_event(event);
  if (images != sampler_.images()) events_.set_images(sampler_.images());
  add_event_sample({event.time_ns, event.value, event.os_id, event.clr_id, event.thread_name,
                    *event.subject},
                   source, stack);
}

void Recorder::add_image_load(const ImageLoad& load) {
  ++progress_.events;
  std::string name(load.thread.name.data(), load.thread.name_bytes);
  // The registry was busy during the load. The thread may have ended since, and its id may belong to another thread.
  if (name.empty() && load.thread.clr_id == 0) name = sampler_.managed_name(load.os_id);
  const Source& source = source_of(load.os_id, load.thread.clr_id, name);
  if (!source.wanted) return;
  const auto images = sampler_.images();
  const std::optional<Stack> stack =
      sampler_.finish_image_load(load, image_loads_->stack(load));
  if (images != sampler_.images()) events_.set_images(sampler_.images());
  add_event_sample({load.time_ns, 1, load.os_id, load.thread.clr_id, std::move(name),
                    to_utf8(image_loads_->name(load))},
                   source, stack);
}

const Recorder::Source& Recorder::source_of(std::uint32_t os_id, std::uint64_t clr_id,
                                            const std::string& name) {
  if (sources_.size() == kMaxSources) sources_.clear();
  const auto [at, added] = sources_.try_emplace({os_id, clr_id});
  Source& source = at->second;
  // A native thread's id may have belonged to another thread before.
  if (added || clr_id == 0) {
    source = {};
    const UniqueHandle thread(OpenThread(THREAD_QUERY_LIMITED_INFORMATION, FALSE, os_id));
    if (thread) source.description = thread_description(thread.get());
    source.wanted = is_wanted(os_id, source.description, name);
  }
  return source;
}

// `stack`: nothing if its code was unloaded before it had its names.
void Recorder::add_event_sample(const EventMoment& moment, const Source& source,
                                const std::optional<Stack>& stack) {
  if (!stack) {
    ++dropped_;
    return;
  }
  add_new_tables();
  count(stack->completeness());
  const std::string& name = moment.thread_name;
  // Threads that walked themselves at one moment may come in any order.
  const std::uint64_t since_start = moment.time_ns > start_ns_ ? moment.time_ns - start_ns_ : 0;
  last_tick_ns_ = std::max(last_tick_ns_, since_start);
  builder_->recording().samples.push_back(
      {.time_ns = last_tick_ns_,
       .value = moment.value,
       .thread = builder_->add_thread(moment.os_id, moment.clr_id,
                                      name.empty() ? source.description : name),
       .stack = builder_->add_stack(*stack),
       .detail = builder_->add_detail(moment.subject)});
}

void Recorder::listen() {
  const auto message = pipe_.receive();
  if (!message || !std::holds_alternative<StopRequest>(*message)) broken_ = true;
  SetEvent(stop_.get());
}

void Recorder::write_chunks() {
  RecordedBytes chunk;
  while (true) {
    if (!ring_.pop(chunk)) {
      if (finished_) return;
      WaitForSingleObject(more_.get(), INFINITE);
      continue;
    }
    const std::size_t bytes = chunk.bytes.size();
    if (!broken_ && !pipe_.send(std::move(chunk))) {
      broken_ = true;
      SetEvent(stop_.get());
    }
    bytes_in_flight_ -= bytes;
  }
}

void Recorder::begin_file() {
  builder_.emplace();
  Recording& recording = builder_->recording();
  recording.unix_time_ms = unix_time_ms_;
  recording.period_ns = is_moment(request_.event) ? 0 : request_.period_ns;
  recording.event = request_.event;
  recording.engine = request_.sampling.engine;
  recording.process = hello_.process;
  recording.runtime = hello_.runtime;
  sink_.text.clear();
  writer_.emplace(sink_);
  writer_->begin(recording);
  new_file_ = true;
  dropped_ = 0;
  dropped_written_ = 0;
  file_samples_ = 0;
}

bool Recorder::tick(std::uint64_t now) {
  sampler_.begin_round();
  if (now >= find_threads_ns_) {
    const std::uint64_t begun = clock_.now_ns();
    find_threads();
    const std::uint64_t took = clock_.now_ns() - begun;
    find_threads_ns_ =
        now + took + std::clamp(took * kFindThreadsShare, kFindThreadsNs, kFindThreadsSeldomNs);
  }
  const std::uint64_t value = last_tick_ns_ == 0 ? request_.period_ns : now - last_tick_ns_;
  last_tick_ns_ = now;
  choose_due(value);
  if (!has_room()) {
    dropped_ += due_.size();
    return true;
  }
  // Threads that wait stop at once, and for most of their samples a comparison with the last sample is enough. Threads
  // that work must get a processor before they stop, and the fewer threads run, the sooner they get one. So threads
  // that work are frozen together.
  const auto waiting = request_.sampling.engine == Engine::snapshot
                           ? due_.begin()
                           : std::partition(due_.begin(), due_.end(),
                                            [](const Due& due) { return due.followed->moves; });
  const auto moving = static_cast<std::size_t>(waiting - due_.begin());
  if (!sample_in_groups(now, std::span(due_).first(moving))) return false;
  for (const Due& due : std::span(due_).subspan(moving)) {
    if (!sample_alone(now, due)) return false;
  }
  return true;
}

// Chooses the threads of this tick: all of them, or those that have used the CPU.
void Recorder::choose_due(std::uint64_t value) {
  due_.clear();
  for (const auto& [os_id, followed] : threads_) {
    Due due{os_id, followed.get(), value};
    if (request_.event == SampleEvent::cpu) {
      due.sample_value = cpu_clock_.since(followed->thread.handle(), followed->cpu);
      if (due.sample_value == 0) continue;
    }
    due_.push_back(due);
  }
}

bool Recorder::sample_in_groups(std::uint64_t now, std::span<Due> due) {
  std::vector<Sampler::GroupThread> group;
  while (!due.empty()) {
    const std::size_t count = std::min(due.size(), group_size_.threads());
    group.assign(count, {});
    for (std::size_t i = 0; i < count; ++i) {
      Followed& followed = *due[i].followed;
      group[i].os_id = due[i].os_id;
      group[i].thread = &followed.thread.thread();
      group[i].last = &followed.last;
    }
    if (!may_freeze()) return false;
    const auto frozen_ns = sampler_.sample_group(group, request_.sampling.engine, {});
    if (!frozen_ns) return false;
    std::size_t moved = 0, late = 0;
    for (const Sampler::GroupThread& of : group) {
      moved += !of.sample.unmoved;
      late += of.sample.fault == CaptureFault::overdue || of.sample.fault == CaptureFault::no_room;
    }
    budget_->add_group(moved, *frozen_ns);
    group_size_.took(count, late);
    for (std::size_t i = 0; i < count; ++i) {
      const Sampler::Sample& sample = group[i].sample;
      // The runtime may know more about this stack, but it is not asked while several threads are frozen.
      const bool alone = sample.lacks_runtime || sample.look_again || sample.gap_may_be_unloaded_code;
      if (!(alone ? sample_alone(now, due[i], &sample) : add_sample(now, due[i], sample))) {
        return false;
      }
    }
    due = due.subspan(count);
  }
  return true;
}

// `in_group`: the thread's sample from a group, without a stack or with a gap; null if the thread was in no group.
bool Recorder::sample_alone(std::uint64_t now, const Due& due, const Sampler::Sample* in_group) {
  auto sample = sampler_.sample(due.followed->thread, due.os_id, request_.sampling,
                                &due.followed->last);
  if (!sample) return false;
  if (in_group != nullptr) {
    budget_->add_again(sample->thread.frozen_ns);
    sample->thread.add_freeze(in_group->thread);
    const bool worse = !sample->thread.skipped.empty() && in_group->thread.skipped.empty();
    if (worse && sampler_.obstacle() == nullptr) {
      Sampler::Sample kept = *in_group;
      kept.thread.add_freeze(sample->thread);
      return add_sample(now, due, kept);
    }
  } else if (!sample->unmoved) {
    budget_->add_thread(sample->thread.frozen_ns);
  }
  return add_sample(now, due, *sample);
}

// Returns false if no thread can be frozen any more.
bool Recorder::may_freeze() {
  const char* const obstacle = sampler_.obstacle();
  if (obstacle != nullptr) problem_ = obstacle;
  return obstacle == nullptr;
}

// Whether the system has refused the registers of so many threads, and no sample was taken.
bool Recorder::is_refused(std::uint64_t most) const noexcept { return progress_.samples == 0 && refusals_ >= most; }

bool Recorder::add_sample(std::uint64_t now, const Due& due, const Sampler::Sample& sample) {
  Followed& followed = *due.followed;
  const Thread& thread = sample.thread;
  if (thread.skipped.empty() || thread.overdue) {
    frozen_.add(thread.frozen_ns);
    stopping_.add(thread.stopping_ns);
    progress_.interventions += thread.overdue;
  }
  if (!thread.skipped.empty()) {
    if (!may_freeze()) return false;
    // A thread that the supervisor resumed before it was copied, or whose code was unloaded, is sampled again at the
    // next tick. In any other case the thread is ending.
    followed.missed_value += due.sample_value;
    if (sample.refusal != 0) {
      refusal_ = sample.refusal;
      ++refusals_;
    }
    if (is_refused(kMostRefusals)) return false;
    if (!thread.overdue && !sample.look_again) threads_.erase(due.os_id);
    return true;
  }
  add_new_tables();
  followed.moves = !sample.unmoved;
  if (!sample.unmoved) {
    followed.stack = builder_->add_stack(thread.stack);
    followed.completeness = thread.stack.completeness();
  }
  count(followed.completeness);
  builder_->recording().samples.push_back(
      {.time_ns = now,
       .value = due.sample_value + std::exchange(followed.missed_value, 0),
       .thread = builder_->add_thread(thread.os_id, thread.clr_id,
                                      thread.name.empty() ? followed.description : thread.name),
       .stack = followed.stack});
  return true;
}

void Recorder::find_threads() {
  const auto listed = list_threads();
  if (!listed) {
    if (threads_.empty()) throw std::bad_alloc();
    return;  // known threads are still sampled, and the next round lists the threads again
  }
  const std::vector<std::uint32_t>& ids = *listed;
  std::erase_if(threads_, [&](const auto& entry) {
    return !std::binary_search(ids.begin(), ids.end(), entry.first);
  });
  for (const std::uint32_t id : ids) {
    if (sampler_.is_own_thread(id) || id == writer_id_ || id == listener_id_) continue;
    if (threads_.contains(id)) continue;
    auto followed = std::make_unique<Followed>(sampler_.supervisor());
    if (!followed->thread.open(id)) continue;
    followed->description = thread_description(followed->thread.handle());
    if (!is_wanted(id, followed->description, sampler_.managed_name(id))) continue;
    // CPU time that the thread used before does not belong to this recording.
    followed->cpu = cpu_clock_.mark(followed->thread.handle());
    threads_.emplace(id, std::move(followed));
  }
}

bool Recorder::is_wanted(std::uint32_t os_id, const std::string& description,
                         const std::string& managed) const {
  const auto& ids = request_.sampling.thread_ids;
  const auto& names = request_.thread_names;
  if (ids.empty() && names.empty()) return true;
  if (std::find(ids.begin(), ids.end(), os_id) != ids.end()) return true;
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return managed.starts_with(name) || description.starts_with(name);
  });
}

void Recorder::count(Completeness completeness) noexcept {
  ++progress_.samples;
  progress_.whole += completeness == Completeness::whole;
  progress_.guessed += completeness == Completeness::guessed;
}

void Recorder::add_new_tables() {
  Recording& recording = builder_->recording();
  for (const auto modules = sampler_.modules(); recording.modules.size() < modules.size();) {
    builder_->add_module(modules[recording.modules.size()]);
  }
  for (const auto assemblies = sampler_.assemblies(); recording.assemblies.size() < assemblies.size();) {
    builder_->add_assembly(assemblies[recording.assemblies.size()]);
  }
}

bool Recorder::has_room() const noexcept {
  return !pending_ && !ring_.full() &&
         bytes_in_flight_ < kMaxBytesInFlight;
}

void Recorder::flush() {
  if (!pending_) {
    Recording& recording = builder_->recording();
    recording.dropped = dropped_;
    recording.duration_ns = std::max(recording.duration_ns, last_tick_ns_);
    const std::size_t samples = recording.samples.size();
    const bool written = writer_->append(recording);
    file_samples_ += samples;
    recording.samples.clear();
    writer_->samples_cleared();
    if (!written) {
      // A limit of the format was exceeded, so the next file says that these samples are lost.
      const std::uint64_t lost = dropped_ - dropped_written_ + samples;
      sampler_.forget();
      begin_file();
      dropped_ = lost;
      return;
    }
    dropped_written_ = dropped_;
    if (sink_.text.empty() && progress_.events == events_written_) return;
    events_written_ = progress_.events;
    progress_.frozen = frozen_.percentiles();
    progress_.stopping = stopping_.percentiles();
    pending_ = RecordedBytes{std::exchange(new_file_, false), std::exchange(sink_.text, {}),
                             progress_};
    if (recording.frames.size() > kFileFrames || recording.nodes.size() > kFileNodes ||
        recording.modules.size() > kFileOthers || recording.threads.size() > kFileOthers ||
        recording.details.size() > kFileOthers ||
        recording.assemblies.size() > kFileOthers || file_samples_ > kFileSamples) {
      sampler_.forget();
      begin_file();
    }
  }
  const std::size_t bytes = pending_->bytes.size();
  bytes_in_flight_ += bytes;
  if (!ring_.push(*pending_)) {
    bytes_in_flight_ -= bytes;
    return;
  }
  pending_.reset();
  SetEvent(more_.get());
}

// Sends everything that is left, as long as mixwalk.exe reads. Returns false if the pipe is broken.
bool Recorder::drain() {
  constexpr DWORD kLookMs = 10;
  do {
    flush();
    if (broken_) break;
    if (pending_) Sleep(kLookMs);
  } while (pending_);
  flush();
  finished_ = true;
  SetEvent(more_.get());
  return !broken_;
}

}  // namespace mixwalk
