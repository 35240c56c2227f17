#include "walker/profiler/recorder.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <stdexcept>

#include "walker/base/win/precise_wait.h"
#include "walker/profiler/thread_filter.h"
#include "walker/profiler/worker_thread.h"
#include "walker/session/win/thread_list.h"

namespace mixwalk {
namespace {

// If the system has refused the registers of threads so many times, and there is no sample, the recording ends.
constexpr std::uint64_t kMostRefusals = 100;
// How often the threads of the process are listed. To list them, the system goes through the threads of all processes,
// which takes long on a busy machine. If it does, the threads are listed less often, so that listing takes no more than
// a tenth of the time, but at least every 2 s, so that a thread that lives for some seconds is seen.
constexpr std::uint64_t kFindThreadsNs = 250'000'000;
constexpr std::uint64_t kFindThreadsShare = 10;
constexpr std::uint64_t kFindThreadsSeldomNs = 2'000'000'000;

}  // namespace

// Ends a recording, for whatever reason it ends. Afterwards no callback walks any more, and the destructor waits for
// the recording's threads no longer than they need. The writer may finish its current message, so that a last message
// can follow.
class Recorder::Shutdown {
 public:
  Shutdown(Recorder& recorder, WorkerThread& writer, WorkerThread& listener) noexcept
      : recorder_(recorder), writer_(writer), listener_(listener) {}
  ~Shutdown() {
    recorder_.events_.end();
    recorder_.chunks_.abandon();
    for (DWORD wait = kLastMessageMs; !writer_.has_ended(wait); wait = kLookMs) {
      recorder_.pipe_.cancel_send();
    }
    recorder_.events_.finished();
    while (!listener_.has_ended(0)) {
      recorder_.pipe_.cancel_receive();
      listener_.has_ended(kLookMs);
    }
  }
  Shutdown(const Shutdown&) = delete;
  Shutdown& operator=(const Shutdown&) = delete;

 private:
  static constexpr DWORD kLastMessageMs = 1000, kLookMs = 10;

  Recorder& recorder_;
  WorkerThread& writer_;
  WorkerThread& listener_;
};

Recorder::Recorder(Sampler& sampler, EventSource& events, PipeEnd& pipe, const Hello& hello,
                   const RecordRequest& request)
    : sampler_(sampler),
      pipe_(pipe),
      request_(request),
      stop_(CreateEventW(nullptr, TRUE, FALSE, nullptr)),
      chunks_(sampler, pipe, stop_.get(), hello, request_),
      events_(request_, sampler, events, chunks_) {
  if (!stop_) throw std::bad_alloc();
}

bool Recorder::record() {
  // Nothing is frozen for events, so no canary is needed.
  DumpRequest sampling = request_.sampling;
  if (is_moment(request_.event)) sampling.probe = ProbePolicy::never;
  sampler_.begin(sampling);
  if (!events_.begin()) {
    pipe_.send(Problem{"the runtime does not tell of these events, or a recording of them before this one "
                       "could not be ended"});
    return false;
  }
  const auto failed = [this](WorkEnd end) {
    worker_end_ = end;
    chunks_.break_off();
  };
  WorkerThread writer([this] { chunks_.send_chunks(); }, failed);
  WorkerThread listener([this] { listen(); }, failed);
  const Shutdown shutdown(*this, writer, listener);
  events_.begin_image_loads();
  if (!writer || !listener) throw std::bad_alloc();
  writer_id_ = writer.id();
  writer_handle_ = writer.handle();
  listener_id_ = listener.id();

  chunks_.begin();
  const Deadline deadline(kDefaultStartMs);
  if (!writer.begun_within(deadline.remaining_ms()) || !listener.begun_within(deadline.remaining_ms())) {
    static_assert(kDefaultStartMs == 20'000);
    pipe_.send(Problem{"mixwalk.dll's threads could not be started in the target within 20 s"});
    return false;
  }
  start_ns_ = clock_.now_ns();
  bool alive = true;
  if (is_moment(request_.event)) {
    events_.record(stop_.get(), start_ns_);
  } else {
    alive = record_periods();
  }
  events_.end();
  const bool whole = chunks_.drain(clock_.now_ns() - start_ns_);
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
  chunks_.progress().slowed = budget_->lengthened();
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
    if (now - start_ns_ - flushed >= ChunkSender::kFlushNs || next - now >= ChunkSender::kFlushNs) {
      chunks_.flush();
      flushed = now - start_ns_;
    }
  }
}

void Recorder::listen() {
  const auto message = pipe_.receive();
  if (!message || !std::holds_alternative<StopRequest>(*message)) chunks_.break_off();
  SetEvent(stop_.get());
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
  const std::uint64_t last = chunks_.reached_ns();
  const std::uint64_t value = last == 0 ? request_.period_ns : now - last;
  chunks_.reach(now);
  choose_due(value);
  if (!chunks_.has_room()) {
    chunks_.count_dropped(due_.size());
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
      if (!(sample.again.after_group() ? sample_alone(now, due[i], &sample) : add_sample(now, due[i], sample))) {
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
bool Recorder::is_refused(std::uint64_t most) noexcept { return chunks_.progress().samples == 0 && refusals_ >= most; }

bool Recorder::add_sample(std::uint64_t now, const Due& due, const Sampler::Sample& sample) {
  Followed& followed = *due.followed;
  const Thread& thread = sample.thread;
  if (thread.skipped.empty() || thread.overdue) chunks_.count_freeze(thread);
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
    if (!thread.overdue && !sample.again.no_stack) threads_.erase(due.os_id);
    return true;
  }
  followed.moves = !sample.unmoved;
  if (!sample.unmoved) followed.completeness = thread.stack.completeness();
  chunks_.count_sample(followed.completeness);
  RecordingBuilder& builder = chunks_.builder();
  if (!sample.unmoved) followed.stack = builder.add_stack(thread.stack);
  chunks_.add({.time_ns = now,
               .value = due.sample_value + std::exchange(followed.missed_value, 0),
               .thread = builder.add_thread(thread.os_id, thread.clr_id,
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
    if (!is_wanted(request_, id, followed->description, sampler_.managed_name(id))) continue;
    // CPU time that the thread used before does not belong to this recording.
    followed->cpu = cpu_clock_.mark(followed->thread.handle());
    threads_.emplace(id, std::move(followed));
  }
}

}  // namespace mixwalk
