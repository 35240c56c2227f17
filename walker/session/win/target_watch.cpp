#include "walker/session/win/target_watch.h"

#include <optional>
#include <vector>

#include "unmanaged/win/thread_information.h"
#include "walker/base/win/precise_wait.h"
#include "walker/base/win/tick_clock.h"
#include "walker/session/win/patched_calls_of.h"
#include "walker/session/win/thread_list.h"
#include "walker/session/win/token.h"
#include "walker/session/win/win_error.h"

namespace mixwalk {
namespace {

// The margin if system calls of the target are patched. A patch may make every supervisor wait for the thread that is
// frozen, so this process is then the first one that can end a freeze, and not the last one. The time is long enough
// for a supervisor that can work, also where the system's clock has steps of 15.6 ms.
constexpr std::uint32_t kPatchedMarginMs = 150;
// The time between two checks of the target's system calls while a suspension lasts long.
constexpr std::uint64_t kPatchesMs = 1'000;
// How often the ledger is read.
constexpr std::uint64_t kLookNs = 20'000'000;
static_assert(2 * kLookNs == FreezeWatch::kLongestGapMs * 1'000'000);
constexpr std::uint64_t kLookAtTheEndNs = 2'000'000;  // mixwalk.exe waits for this
// The following times are counted by FreezeWatch::watched_ms().
// How long a process that lost our threads may take to end.
constexpr std::uint64_t kEndingMs = 5'000;
// The same as kLeavingMs if nobody waits for this process. The agent may wait for long between two freezes.
constexpr std::uint64_t kLeavingAloneMs = 30'000;

// Returns null if the thread belongs to another process (the target may name any thread of this machine), or if the
// access is denied. The check uses a handle with a harmless right. While that handle is held, the system gives the id
// to no other thread.
UniqueHandle open_thread_of(std::uint32_t process_id, DWORD access, std::uint32_t thread_id) {
  const UniqueHandle asked = open_thread(THREAD_QUERY_LIMITED_INFORMATION, thread_id);
  if (!asked) return {};
  if (GetProcessIdOfThread(asked.get()) != process_id) {
    SetLastError(ERROR_INVALID_PARAMETER);
    return {};
  }
  return open_thread(access, thread_id);
}

class ProcessThreads final : public ThreadResumer {
 public:
  ProcessThreads(std::uint32_t process_id, std::uint32_t agent_thread) noexcept
      : process_id_(process_id), agent_thread_(agent_thread) {}

  // A process is suspended as a whole if none of its threads can run.
  Stopped stopped() override {
    bool known = false;
    for (const std::uint32_t id : list_threads(process_id_).value_or(std::vector<std::uint32_t>())) {
      const auto count = suspend_count_of(id);
      known = known || count.has_value();
      if (count == 0u) return suspend_count_of(agent_thread_).value_or(0) != 0 ? Stopped::agent : Stopped::nothing;
    }
    return known ? Stopped::process : Stopped::nothing;
  }
  bool is_suspended(std::uint32_t thread_id) override { return suspend_count_of(thread_id).value_or(1) != 0; }
  bool open(std::uint32_t thread_id) override {
    thread_ = open_thread_of(process_id_, THREAD_SUSPEND_RESUME, thread_id);
    return static_cast<bool>(thread_);
  }
  std::uint32_t resume() override {
    const DWORD before = ResumeThread(thread_.get());
    return before == static_cast<DWORD>(-1) ? 0 : before;
  }

 private:
  std::optional<ULONG> suspend_count_of(std::uint32_t thread_id) const {
    const UniqueHandle thread = open_thread_of(process_id_, THREAD_QUERY_INFORMATION, thread_id);
    return thread ? suspend_count(thread.get()) : std::nullopt;
  }

  std::uint32_t process_id_, agent_thread_;
  UniqueHandle thread_;  // the thread that was opened last
};

// A handle for waiting, as it is valid in the process `into`; null if there is none.
HANDLE duplicate(HANDLE handle, HANDLE into) {
  HANDLE copy = nullptr;
  DuplicateHandle(GetCurrentProcess(), handle, into, &copy, SYNCHRONIZE, FALSE, 0);
  return copy;
}

}  // namespace

Outcome<std::unique_ptr<TargetWatch>> TargetWatch::begin(const AttachTarget& target, std::uint32_t agent_thread) {
  auto ledger = SharedLedger::create();
  if (!ledger) {
    return Failure{ExitCode::internal, "cannot make shared memory: " + last_error()};
  }
  std::unique_ptr<TargetWatch> watch(new TargetWatch(std::move(*ledger)));
  const std::string process = "process " + std::to_string(target.id);
  // The handle has the rights that resuming its threads needs, so that a visit that could not do that is refused.
  watch->agent_ = open_thread_of(target.id, SYNCHRONIZE | THREAD_SUSPEND_RESUME, agent_thread);
  if (!watch->agent_ && GetLastError() == ERROR_ACCESS_DENIED) {
    return Failure{ExitCode::no_access, "no access to the threads of " + process};
  }
  if (!watch->agent_) {
    return Failure{ExitCode::refused,
                   "the thread that " + process + " calls mixwalk.dll's is none of its own"};
  }
  watch->process_id_ = target.id;
  watch->agent_thread_ = agent_thread;
  // Security software patches a process at its start, and nothing was frozen yet. If the calls cannot be checked, they
  // count as those of the system.
  if (auto calls = patched_calls_of(target.id)) watch->patched_calls_ = std::move(*calls);
  if (!watch->patched_calls_.empty()) watch->expect_patches();
  watch->process_ = UniqueHandle(duplicate(target.process.get(), GetCurrentProcess()));
  watch->dll_thread_ended_ = UniqueHandle(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  watch->stop_ = UniqueHandle(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  if (!watch->process_ || !watch->dll_thread_ended_ || !watch->stop_) {
    return Failure{ExitCode::internal, "cannot make an event: " + last_error()};
  }
  // This comes last, because a failure after this would leave an open handle in the target.
  const auto target_handle = watch->ledger_.give_to(target.process.get());
  if (!target_handle) {
    return Failure{ExitCode::no_access,
                   "cannot share memory with " + process + ": " + last_error()};
  }
  watch->target_handle_ = *target_handle;
  watch->thread_ = std::thread([it = watch.get()] { it->run(); });
  return watch;
}

TargetWatch::~TargetWatch() {
  if (!thread_.joinable()) return;
  SetEvent(stop_.get());
  thread_.join();
}

std::optional<HandedWatch> TargetWatch::hand_to(HANDLE process) {
  const auto ledger = ledger_.give_to(process);
  const HandedWatch handed{.ledger = ledger.value_or(nullptr),
                           .process = duplicate(process_.get(), process),
                           .agent = duplicate(agent_.get(), process),
                           .process_id = process_id_,
                           .agent_thread = agent_thread_,
                           .deadline_ms = deadline_ms_};
  if (!handed.ledger || !handed.process || !handed.agent) return std::nullopt;
  return handed;
}

// The target's system calls are patched, since only such a target needs this.
void TargetWatch::take_over(const HandedWatch& handed) {
  auto ledger = SharedLedger::open(handed.ledger);
  if (!ledger) return;
  TargetWatch watch(std::move(*ledger));
  watch.process_ = UniqueHandle(handed.process);
  watch.agent_ = UniqueHandle(handed.agent);
  watch.process_id_ = handed.process_id;
  watch.agent_thread_ = handed.agent_thread;
  watch.deadline_ms_ = handed.deadline_ms;
  watch.leaving_ms_ = kLeavingAloneMs;
  watch.freezes_.set_inherited();
  watch.expect_patches();
  watch.dll_thread_ended_ = UniqueHandle(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  watch.stop_ = UniqueHandle(CreateEventW(nullptr, TRUE, TRUE, nullptr));
  if (watch.dll_thread_ended_ && watch.stop_) watch.run();
}

void TargetWatch::expect_patches() noexcept {
  margin_ms_ = kPatchedMarginMs;
  freezes_.set_patched();
  patched_ = true;
}

void TargetWatch::run() {
  ProcessThreads threads(process_id_, agent_thread_);
  const HANDLE handles[] = {process_.get(), stop_.get()};
  const TickClock clock;
  PreciseWait pause;
  bool ended = false, stopping = false;
  std::optional<std::uint64_t> ended_at, stopped_at;  // by watched_ms()
  std::uint64_t patches_at = 0;                       // when the system calls are to be checked again
  while (true) {
    const DWORD waited = stopping ? pause.wait(process_.get(), kLookAtTheEndNs) : pause.wait(handles, kLookNs);
    if (waited == WAIT_OBJECT_0) return;
    stopping = stopping || waited == WAIT_OBJECT_0 + 1;
    ended = ended || WaitForSingleObject(agent_.get(), 0) == WAIT_OBJECT_0;
    const std::uint64_t limit_ms = std::uint64_t{deadline_ms_} + margin_ms_;
    freezes_.set_limit(limit_ms);
    given_back_ += freezes_.look(clock.now_ns() / 1'000'000, ended, threads);
    const std::uint64_t now = freezes_.watched_ms();
    // Other software may patch a process that has run for long. (hunt: a thread stood for ever.)
    if (!patched_ && freezes_.longest_ms() >= deadline_ms_ + kPatchedMarginMs && now >= patches_at) {
      patches_at = now + kPatchesMs;
      if (const auto calls = patched_calls_of(process_id_); calls && !calls->empty()) expect_patches();
    }
    if (ended && !ended_at) ended_at = now;
    if (stopping && !stopped_at) stopped_at = now;
    if (ended && now - *ended_at >= kEndingMs) SetEvent(dll_thread_ended_.get());
    // If the agent does not end, it has nothing suspended any more after this time.
    if (stopping && (ended || now - *stopped_at >= leaving_ms_) && !freezes_.any()) return;
    if (stopping && now - *stopped_at >= leaving_ms_ + limit_ms + FreezeWatch::kLastResortMs) return;
  }
}

}  // namespace mixwalk
