#include "walker/profiler/dumper.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <optional>

#include "walker/profiler/pages.h"
#include "walker/session/win/thread_list.h"

namespace mixwalk {
namespace {

constexpr char kNotOpened[] = "the thread has ended, or may not be opened";
// The limit for the stacks of all threads. The stacks are copied into the target's own memory.
constexpr std::size_t kMaxArenaBytes = 64 << 20;

// Returns nothing if there was no memory for a list.
std::optional<std::vector<std::uint32_t>> wanted_threads(const DumpRequest& request) {
  return request.thread_ids.empty() ? list_threads() : std::optional(request.thread_ids);
}

}  // namespace

bool Dumper::dump(const DumpRequest& request) {
  sampler_.begin(request);
  if (request.at_once) return dump_at_once(request);
  const auto wanted = wanted_threads(request);
  if (!wanted) throw std::bad_alloc();
  for (const std::uint32_t os_id : *wanted) {
    if (!sampler_.is_own_thread(os_id) && !send_thread(os_id, request)) return false;
  }
  return sink_(DumpDone{sampler_.breaker(), {}});
}

bool Dumper::dump_at_once(const DumpRequest& request) {
  std::set<std::uint32_t> met;
  Threads waiting;
  if (!find_threads(request, met, waiting)) return false;
  Moments moments(waiting.size(), Sampler::kMaxInGroup);
  while (!waiting.empty() && moments.another()) {
    bool overdue = false;
    if (!sample_moment(waiting, overdue)) return false;
    moments.took(overdue);
    // The code of some of these threads was being unloaded, which takes some time.
    if (!waiting.empty()) Sleep(static_cast<DWORD>(moments_.size()));
    // This finds threads that have started since the last list.
    if (!find_threads(request, met, waiting)) return false;
  }
  DumpRequest one_by_one = request;
  one_by_one.engine = Engine::copy;
  for (auto& thread : waiting) {
    if (!send_thread(thread->os_id, one_by_one, thread.get())) return false;
  }
  return sink_(DumpDone{sampler_.breaker(), moments_});
}

// Adds the threads that were not met before. Returns false if the sink refused a message.
bool Dumper::find_threads(const DumpRequest& request, std::set<std::uint32_t>& met,
                          Threads& waiting) {
  const auto wanted = wanted_threads(request);
  if (!wanted && met.empty()) throw std::bad_alloc();
  if (!wanted) return true;
  for (const std::uint32_t os_id : *wanted) {
    if (sampler_.is_own_thread(os_id) || !met.insert(os_id).second) continue;
    auto thread = std::make_unique<Waiting>();
    thread->os_id = os_id;
    if (!thread->thread.open(os_id)) {
      if (!sink_(Thread{.os_id = os_id, .skipped = kNotOpened})) return false;
      continue;
    }
    thread->description = thread_description(thread->thread.get());
    waiting.push_back(std::move(thread));
  }
  return true;
}

// Samples and sends all waiting threads, or as many as a group may have. Threads that got no copy of this moment stay
// in `waiting`. Returns false if the sink refused a message, or if the process is ending.
bool Dumper::sample_moment(Threads& waiting, bool& overdue) {
  if (!may_freeze()) return false;
  const std::size_t count = std::min(waiting.size(), Sampler::kMaxInGroup);
  std::vector<Sampler::GroupThread> group(count);
  std::size_t arena_bytes = kMinArenaBytes;
  for (std::size_t i = 0; i < count; ++i) {
    group[i].os_id = waiting[i]->os_id;
    group[i].thread = &waiting[i]->thread;
    const StackLimits stack = waiting[i]->thread.stack_limits();
    // Another thread, or a fiber, may be writing the limits at this moment.
    const std::uint64_t bytes = stack.base > stack.limit ? stack.base - stack.limit : 0;
    arena_bytes += std::min<std::uint64_t>(bytes, kMaxArenaBytes) + kStackGrowthBytes;
  }
  const Pages<std::byte> arena(std::min(arena_bytes, kMaxArenaBytes));
  const auto frozen_ns = sampler_.sample_group(group, Engine::copy, arena.all());
  if (!frozen_ns) return false;
  moments_.push_back({*frozen_ns});
  Threads left;
  for (std::size_t i = 0; i < count; ++i) {
    Sampler::Sample& sample = group[i].sample;
    overdue = overdue || sample.thread.overdue;
    sample.thread.add_freeze(waiting[i]->freezes);
    if (sample.thread.name.empty()) sample.thread.name = waiting[i]->description;
    sample.thread.moment = static_cast<std::uint32_t>(moments_.size());
    if (sample.again.after_group(waiting[i]->partial.has_value())) {
      waiting[i]->freezes.add_freeze(sample.thread);
      if (sample.again.gap_may_be_unloaded_code) waiting[i]->partial = std::move(sample.thread);
      left.push_back(std::move(waiting[i]));
      continue;
    }
    if (!can_go_on(sample.thread)) return false;
    if (waiting[i]->partial && !sample.thread.skipped.empty()) {
      waiting[i]->partial->add_freeze(sample.thread);
      sample.thread = std::move(*waiting[i]->partial);
    }
    if (!send(std::move(sample.thread))) return false;
  }
  std::move(waiting.begin() + static_cast<std::ptrdiff_t>(count), waiting.end(),
            std::back_inserter(left));
  waiting = std::move(left);
  return true;
}

// `before`: the result of earlier moments for the thread; null if there were none.
bool Dumper::send_thread(std::uint32_t os_id, const DumpRequest& request, Waiting* before) {
  const bool has_partial = before != nullptr && before->partial;
  WindowsThread thread(sampler_.supervisor());
  if (!thread.open(os_id)) {
    return has_partial ? send(std::move(*before->partial))
                       : sink_(Thread{.os_id = os_id, .skipped = kNotOpened});
  }
  const std::string description = thread_description(thread.handle());
  auto sample = sampler_.sample(thread, os_id, request);
  if (!sample || !can_go_on(sample->thread)) return false;
  if (before != nullptr) sample->thread.add_freeze(before->freezes);
  if (has_partial && !sample->thread.skipped.empty()) {
    before->partial->add_freeze(sample->thread);
    return send(std::move(*before->partial));
  }
  if (sample->thread.name.empty()) sample->thread.name = description;
  return send(std::move(sample->thread));
}

bool Dumper::can_go_on(const Thread& thread) { return thread.skipped.empty() || may_freeze(); }

// Returns false if no thread can be frozen any more. The reason has been sent then.
bool Dumper::may_freeze() {
  const char* obstacle = sampler_.obstacle();
  if (obstacle != nullptr) sink_(Problem{obstacle});
  return obstacle == nullptr;
}

bool Dumper::send(Thread thread) {
  for (const auto modules = sampler_.modules(); sent_modules_ < modules.size(); ++sent_modules_) {
    if (!sink_(modules[sent_modules_])) return false;
  }
  for (const auto assemblies = sampler_.assemblies(); sent_assemblies_ < assemblies.size();
       ++sent_assemblies_) {
    if (!sink_(assemblies[sent_assemblies_])) return false;
  }
  for (const Frame& frame : thread.stack.frames) {
    if (frame.function == 0) continue;
    // A FunctionID may be used again during a dump.
    const auto [sent, added] = sent_functions_.try_emplace(frame.function, frame.name);
    if (!added && sent->second == frame.name) continue;
    sent->second = frame.name;
    if (!sink_(FunctionName{frame.function, frame.name})) return false;
  }
  return sink_(std::move(thread));
}

}  // namespace mixwalk
