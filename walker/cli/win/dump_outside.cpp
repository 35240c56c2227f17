#include "walker/cli/win/dump_outside.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <future>
#include <memory>
#include <utility>

#include "unmanaged/detached_thread.h"
#include "unmanaged/win/module_path.h"
#include "walker/base/count_words.h"
#include "walker/cli/local_symbols.h"
#include "walker/cli/win/visit.h"
#include "walker/clr/win/target_clr.h"
#include "walker/clr/win/worker_questions.h"
#include "walker/locks/managed_waits.h"
#include "walker/locks/native_waits.h"
#include "walker/locks/target_locks.h"
#include "walker/locks/target_tasks.h"
#include "walker/locks/threading_locks.h"
#include "walker/locks/wait_chain.h"
#include "walker/locks/win/wait_chains.h"
#include "walker/outside/handled_exceptions.h"
#include "walker/outside/outside_walk.h"
#include "walker/outside/target_snapshot.h"
#include "walker/shown/words.h"
#include "walker/target/suspension/suspension_watcher.h"
#include "walker/target/win/live_target.h"

namespace mixwalk {

namespace {

// The time limit for the system's answers about wait chains.
constexpr std::chrono::milliseconds kWaitChainsTime{2000};
// The time limit for opening the process, reading which modules it has loaded, and starting a worker. The worker has
// kClrAnswerMs of it, and the rest is far more than a busy machine needs.
constexpr std::chrono::milliseconds kPrepareTime{kClrAnswerMs + 15'000};

OpenedClr clr_of(const LiveTarget& target, const DumpCommand& command, StoreFetch* servers) {
  OpenedClr clr = open_clr(
      target, {.process = target.handle()},
      {.dac = command.dac, .symbol_path = symbol_path_of(command.visit.symbols), .servers = servers},
      command.runtime_data);
  if (const std::string way = sentence(clr.answers); !way.empty()) spdlog::info(way);
  return clr;
}

}  // namespace

Outcome<Snapshot> dump_outside(const DumpCommand& command, SymbolLoader& loader) {
  const auto id = process_of(command.visit.target);
  if (!id) return id.failure();
  auto target = LiveTarget::open(*id);
  if (!target) return target.failure();
  watch_suspensions_of(*id);
  OpenedClr clr = clr_of(**target, command, loader.servers());
  loader.release_ctrl_c();
  const ThreadSelection& threads = command.visit.sampling.threads;
  const auto wanted = [&](const TargetThread& thread) {
    return threads.has_main() || threads.contains(thread.os_id, thread.name);
  };
  if (const Sampling& sampling = command.visit.sampling; sampling.at_once) {
    if (clr.questions != nullptr) {
      clr.questions->note_calls();
      // The target runs again until its moment, so all else that was read meanwhile is older than that.
      (*target)->drop_memory();
    }
    (*target)->freeze_together(wanted, sampling.deadline_ms);
  }
  Snapshot snapshot = target_snapshot(**target, clr.questions.get(), clr.obstacle, wanted,
                                      {.locks = command.locks, .heap = command.async});
  if (const std::string agreement = sentence(snapshot.calls); !agreement.empty()) spdlog::info(agreement);
  if (clr.questions != nullptr && snapshot.unasked.empty() && !clr.questions->obstacle().empty()) {
    spdlog::info("some locks or line numbers are missing: {}", clr.questions->obstacle());
  }
  snapshot.answers = clr.answers;
  (*target)->add_moments(snapshot);
  snapshot.capture = CaptureMethod::outside;
  return snapshot;
}

OutsideLocks::Prepared OutsideLocks::prepare(std::uint32_t process_id, const DumpCommand& command) {
  auto target = LiveTarget::open(process_id, false);
  if (!target) return {.target = nullptr, .clr = {}, .obstacle = target.failure().message};
  // The dump from inside does not wait for servers.
  OpenedClr clr = clr_of(**target, command, nullptr);
  return {.target = std::move(*target), .clr = std::move(clr), .obstacle = {}};
}

OutsideLocks::OutsideLocks(const DumpCommand& command) : command_(command) {
  if (!command.locks) return;
  const auto id = process_of(command.visit.target);
  if (!id) return;
  // Folklore: under Wine 8, VirtualQueryEx of a process that is just ending may never return. A loop of only this call
  // hung in 2 of 5 runs. Real case: an attach to a program that crashed meanwhile waited for ever at its own end, 3
  // times in 60. Remedy: the wait for this thread has a limit, and the thread has its own copy of the data that it
  // needs.
  const auto task = std::make_shared<std::packaged_task<Prepared()>>(
      [copy = command, id = *id] { return prepare(id, copy); });
  if (run_detached([task] { (*task)(); })) prepared_ = task->get_future();
}

OutsideLocks::~OutsideLocks() {
  if (prepared_.valid()) prepared_.wait_for(kPrepareTime);
}

void OutsideLocks::add_to(Snapshot& snapshot) {
  const auto missing = [&](const std::string& why) {
    snapshot.locks_missing = why;
    if (command_.async) snapshot.tasks_missing = why;
  };
  snapshot.locks_missing = kLocksNotLookedFor;
  if (!command_.locks) return;
  const auto begin = std::chrono::steady_clock::now();
  if (prepared_.valid() && prepared_.wait_for(kPrepareTime) != std::future_status::ready) {
    prepared_ = {};
    missing("the system did not answer questions about the process");
    return;
  }
  Prepared prepared = prepared_.valid() ? prepared_.get() : prepare(snapshot.process.id, command_);
  missing(prepared.target != nullptr ? prepared.clr.obstacle : prepared.obstacle);
  if (prepared.target == nullptr) return;
  prepared.target->refresh();
  add_thread_times(snapshot, *prepared.target);
  if (prepared.clr.questions == nullptr) return;
  snapshot.answers = prepared.clr.answers;
  const auto ready = std::chrono::steady_clock::now();
  const TaskLimits limits{.heap = command_.async};
  if (has_managed_waits(snapshot, limits)) watch_suspensions_of(snapshot.process.id);
  add_managed_waits(snapshot, *prepared.target, *prepared.clr.questions, limits);
  add_handled_exceptions(snapshot, *prepared.target, *prepared.clr.questions);
  const auto ms = [](auto time) { return std::chrono::duration_cast<std::chrono::milliseconds>(time).count(); };
  spdlog::info("{}; looked from outside for {} ms, after {} ms", count_words(snapshot.locks.size(), "lock"),
               ms(std::chrono::steady_clock::now() - ready), ms(ready - begin));
}

void watch_suspensions_of(std::uint32_t process_id) {
  if (const auto failure = watch_suspensions(module_path(nullptr), process_id)) spdlog::info(failure->message);
}

void add_native_locks_of(Snapshot& snapshot) {
  const auto chains = WaitChains::open(kWaitChainsTime);
  const bool waits = has_native_waits(snapshot);
  if (!waits && chains == nullptr) return;
  auto target = LiveTarget::open(snapshot.process.id, false);
  if (!target) return;
  if (waits) {
    watch_suspensions_of(snapshot.process.id);
    add_native_locks(snapshot, **target);
  }
  if (chains == nullptr) return;
  add_wait_chains(snapshot, **target, [&](std::uint32_t thread) {
    auto chain = chains->of(thread);
    // A thread with such a chain is suspended next, to see whether it has moved. Only then is a watcher needed.
    if (lock_of_chain(chain, snapshot.process.id)) watch_suspensions_of(snapshot.process.id);
    return chain;
  });
  if (chains->timed_out() && snapshot.locks_missing.empty()) {
    snapshot.locks_missing = "the time limit for the wait chains of the system was reached";
  }
}

bool may_go_outside(const Failure& failure) noexcept {
  switch (failure.code) {
    case ExitCode::already_profiled:
    case ExitCode::not_started:
    case ExitCode::timeout:
    case ExitCode::refused:
    case ExitCode::no_memory: return true;
    default: return false;
  }
}

}  // namespace mixwalk
