#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "walker/hang/process_findings.h"

namespace mixwalk {

// What a finding says, from what was judged. Nothing is judged here. The target's names in the texts are clipped, and
// otherwise unchanged.
struct FindingText {
  std::string title;
  std::vector<std::string> details;
};

FindingText crash_text(const Crash& crash);
FindingText deadlock_text(std::size_t threads);
// `server`: the thread that serves the context. `waits`: what it waits for, if no other thread is in the circle.
FindingText context_deadlock_text(std::size_t threads, const Thread& server, std::string_view waits);
// `semaphore`: whether a semaphore is in the circle.
FindingText async_cycle_text(std::size_t threads, std::size_t tasks, bool semaphore);

// What was judged of a chain of threads.
struct ChainJudgement {
  ChainEnd end = ChainEnd::thread;
  const Lock* lock = nullptr;      // the one at the end of the chain; null if the last thread waits for a task
  std::size_t waiters = 0;         // threads
  const Thread* holder = nullptr;  // null unless `end` is ChainEnd::thread
  Progress progress = Progress::no;  // of the holder
  bool holder_sleeps = false;
  bool contended = false;  // no thread is stuck
  bool passes_on = false;  // the lock goes from thread to thread
};
FindingText chain_text(const ChainJudgement& chain);
// Threads that wait for each other in a circle, if the semaphore in it may have other holders.
FindingText unclear_circle_text(std::size_t threads, const Lock& semaphore);
// A thread that waits for a lock. `owner`: null if the dump has no such thread.
std::string waiter_words(const Lock& lock, const Thread* owner);
// A thread that waits for a static constructor of another one.
std::string constructor_waiter_words(const Thread& owner);
// The thread at the end of a chain: "holds the monitor 0x1f40 and sleeps".
std::string holder_words(const Lock& lock, const ThreadHistory& holder);
// A thread that runs a static constructor: "runs the static constructor of Orders.Settings and sleeps".
std::string constructor_words(const Thread& thread, const ThreadHistory& history);

// What was judged of threads that wait for static constructors.
struct ConstructorJudgement {
  std::size_t waiters = 0, running = 0;  // threads
  const Thread* first_runner = nullptr;
  bool any_progresses = false, any_unclear = false;  // a constructor
};
FindingText constructor_text(const ConstructorJudgement& constructors);

// `alike`: how many of the workers have this wait. `starved`: if not, the pool only may be starved.
FindingText starved_pool_text(std::size_t workers, std::size_t alike, const Wait& wait, bool starved);
// `call`: Wait::call, or kApartmentCalls for COM calls into other apartments.
inline constexpr std::string_view kApartmentCalls = "COM calls into another apartment or process";

// What is known of the queue of the thread pool.
struct PoolNumbers {
  std::int64_t queued = -1;  // work items; -1: unknown
  std::size_t waiting = 0;   // workers that wait for work of the queue
  std::string first_items;   // "3 × Orders.Client.FetchAsync()"
};
FindingText deadlocked_pool_text(std::size_t workers, const PoolNumbers& numbers);
// The pool is starved, as its queue shows.
FindingText starved_queue_text(std::size_t workers, const PoolNumbers& numbers);

FindingText process_output_text(std::size_t threads, const Thread& first);
// `ends`: what could end the task, as a sentence.
FindingText unclear_task_text(std::size_t threads, const Thread& first, std::string_view ends);

FindingText common_call_text(std::size_t threads, std::string_view call);
// `first`: the first of the threads, and its wait.
FindingText stuck_text(std::size_t threads, const Thread& first, const Wait& wait);

// A thread that handles an exception with at least one object, as a detail of a finding about that thread.
std::string handler_detail(const Thread& thread);

// The handlers of ProcessExit. `exits`: the thread that has called Environment.Exit; null if none is seen.
FindingText exit_text(bool hangs, const Thread* exits);
// The same as a detail of another finding about the finalizer thread, which runs them.
std::string exit_detail(const Thread* exits);

// `does`, `place`: "hangs", "a finalizer".
FindingText finalizer_text(std::string_view does, std::string_view place, bool sleeps, const Wait& wait);
// The same as a detail of another finding about the finalizer thread. `waiters`: for its finalizers.
std::string finalizer_detail(std::size_t waiters);

}  // namespace mixwalk
