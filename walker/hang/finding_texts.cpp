#include "walker/hang/finding_texts.h"

#include "walker/base/count_words.h"
#include "walker/hang/finding_words.h"
#include "walker/hang/frame_names.h"
#include "walker/hang/waits.h"
#include "walker/model/crash_words.h"
#include "walker/model/lock_words.h"

namespace mixwalk {
namespace {

// For threads in COM calls into another apartment.
constexpr std::string_view kApartmentHint =
    "The thread that should answer belongs to a single-threaded apartment, and answers only while it handles messages. "
    "Look for such a thread that waits and handles none.";

// "1 thread waits", "3 threads wait".
std::string threads_wait(std::size_t threads) {
  return count_words(threads, "thread") + (threads == 1 ? " waits" : " wait");
}

std::string chain_title(const ChainJudgement& chain) {
  if (chain.lock == nullptr) return threads_wait(chain.waiters) + " for " + thread_words(*chain.holder);
  const Lock& lock = *chain.lock;
  if (chain.holder != nullptr) {
    const std::string thread = thread_words(*chain.holder);
    if (lock.kind == LockKind::pause) {
      return "Managed code cannot go on: a garbage collection, or another pause, waits for " + thread;
    }
    return threads_wait(chain.waiters) + (is_held(lock.kind) ? " for what " + thread + " holds" : " for " + thread);
  }
  if (chain.end == ChainEnd::gone) {
    return threads_wait(chain.waiters) + " for a lock of thread " + hex(lock.owner) + ", which is not in the dump";
  }
  const std::string title = threads_wait(chain.waiters) + " for " + lock_words(lock);
  return lock.address == 0 ? title : title + "; it is not known which thread holds it";
}

// The words for a lock whose waiters are not stuck.
std::string_view contended_words(const ChainJudgement& chain) {
  if (chain.holder_sleeps) {
    return "The holder sleeps. It continues by itself, unless it sleeps for ever. No thread is stuck.";
  }
  if (chain.progress == Progress::yes) {
    return "The holder makes progress. The lock is contended, and no thread is stuck.";
  }
  if (chain.passes_on) {
    return "The lock has passed from one thread to another. It is contended, and no thread is stuck.";
  }
  return "No thread is known to have waited for it since the previous dump, or to be stuck.";
}

// "213 work items are queued. 16 of 16 workers wait for work that is in that queue."
std::vector<std::string> queue_words(std::size_t workers, const PoolNumbers& numbers) {
  std::vector<std::string> lines;
  std::string text;
  if (numbers.queued >= 0) {
    text = count_words(static_cast<std::uint64_t>(numbers.queued), "work item") +
           (numbers.queued == 1 ? " is queued. " : " are queued. ");
  }
  lines.push_back(text + std::to_string(numbers.waiting) + " of " + count_words(workers, "worker") +
                  (numbers.waiting == 1 ? " waits" : " wait") + " for work that is in that queue.");
  if (!numbers.first_items.empty()) lines.push_back("The first items: " + numbers.first_items + ".");
  return lines;
}

// Who has asked for the end of the program, as a sentence.
std::string asked_for_exit(const Thread* exits) {
  return exits != nullptr
             ? thread_words(*exits, "Thread") + " has called Environment.Exit."
             : "It is not seen who has asked for its end: Main may have returned, or the system ends the program.";
}

}  // namespace

FindingText crash_text(const Crash& crash) {
  return {"Crash: " + crash_words(crash), crash_details(crash)};
}

std::string handler_detail(const Thread& thread) {
  return thread_words(thread, "Thread") + " " + clipped(handled_words(thread.handles.front()).front());
}

FindingText deadlock_text(std::size_t threads) {
  return {threads == 1 ? "Deadlock: a thread waits for a lock that it holds itself"
                       : "Deadlock of " + count_words(threads, "thread"),
          {}};
}

FindingText context_deadlock_text(std::size_t threads, const Thread& server, std::string_view waits) {
  return {threads == 1 ? "Deadlock: " + thread_words(server) + " " + std::string(waits)
                       : "Deadlock of " + count_words(threads, "thread") + ": a continuation waits for " +
                             thread_words(server),
          {"A thread that waits for a task runs no continuations. Await the task instead, or let the awaited methods "
           "use ConfigureAwait(false)."}};
}

FindingText async_cycle_text(std::size_t threads, std::size_t tasks, bool semaphore) {
  if (threads == 0 && tasks == 1) {
    return {semaphore ? "Deadlock of a task that waits for a semaphore that it has entered itself"
                      : "Deadlock of a task that waits for itself",
            {}};
  }
  std::string title = "Deadlock of ";
  if (threads != 0) title += count_words(threads, "thread") + " and ";
  return {title + count_words(tasks, "task") + " that wait for each other", {}};
}

FindingText chain_text(const ChainJudgement& chain) {
  FindingText text{chain_title(chain), {}};
  if (chain.holder != nullptr && chain.lock != nullptr && chain.lock->kind == LockKind::pause) {
    text.details.emplace_back("That thread is in native code, and the runtime takes it for managed code: for example, "
                              "in a P/Invoke with SuppressGCTransition. Other threads wait for the end of the pause.");
  }
  if (chain.progress == Progress::unclear) {
    text.details.emplace_back("It is not known whether the holder makes progress, nor whether any thread is stuck.");
  }
  if (chain.end == ChainEnd::gone) {
    text.details.emplace_back("That thread has ended without releasing the lock, or the dump was made without it.");
  }
  if (chain.contended) text.details.emplace_back(contended_words(chain));
  return text;
}

FindingText unclear_circle_text(std::size_t threads, const Lock& semaphore) {
  return {threads == 1 ? "A thread may wait for a semaphore that it has entered itself"
                       : count_words(threads, "thread") + " may wait for each other",
          {open_semaphore_words(semaphore)}};
}

std::string waiter_words(const Lock& lock, const Thread* owner) {
  const std::string words = "waits for " + lock_words(lock);
  const std::string held = words + std::string(owner_words(lock.kind));
  if (owner != nullptr) {
    const std::size_t more = lock.sharers.size() + lock.task_holders.size();
    const std::string words_of_owner = held + thread_words(*owner);
    return more > 1 ? words_of_owner + " and " + std::to_string(more - 1) + " more" : words_of_owner;
  }
  if (lock.owner != 0) return held + "thread " + hex(lock.owner) + ", which is not in the dump";
  return lock.address != 0 ? words + ", whose holder is not known" : words;
}

std::string constructor_waiter_words(const Thread& owner) {
  return "waits for a static constructor that " + thread_words(owner) + " runs";
}

std::string holder_words(const Lock& lock, const ThreadHistory& holder) {
  return holder_text(lock.kind, lock_words(lock)) + " and " + state_words(holder);
}

std::string constructor_words(const Thread& thread, const ThreadHistory& history) {
  const std::string method = method_of(running_constructor(thread)->name);
  return "runs the static constructor of " + clipped(method.substr(0, method.size() - kStaticConstructor.size())) +
         " and " + state_words(history);
}

FindingText constructor_text(const ConstructorJudgement& constructors) {
  FindingText text{threads_wait(constructors.waiters) + " for a static constructor", {}};
  if (constructors.any_progresses) {
    text.title += ": for one that makes progress, or for one that does not";
    return text;
  }
  text.title += constructors.running == 1 ? " that " + thread_words(*constructors.first_runner) + " runs"
                                          : "; " + count_words(constructors.running, "thread") + " run one";
  if (constructors.any_unclear) {
    text.details.emplace_back("It is not known whether the constructor will end, nor whether any thread is stuck.");
  }
  return text;
}

FindingText starved_pool_text(std::size_t workers, std::size_t alike, const Wait& wait, bool starved) {
  const bool one = workers == 1;
  const std::string all = one ? std::string("its only worker ") : "all of its " + std::to_string(workers) + " workers ";
  return {starved ? "The thread pool is starved: " + all + (one ? "is blocked" : "are blocked")
                  : "The thread pool may be starved: " + all + (one ? "waits" : "wait"),
          {std::to_string(alike) + " of them: each " + wait.words + ".",
           starved ? "No worker is left for queued work, not even for the work that they wait for."
                   : "It is not known whether work is queued. If it is, no worker is left for it."}};
}

FindingText deadlocked_pool_text(std::size_t workers, const PoolNumbers& numbers) {
  FindingText text{"The thread pool is deadlocked: " +
                       (workers == 1 ? std::string("its only worker waits")
                                     : "all of its " + std::to_string(workers) + " workers wait") +
                       " for work that only the pool can do",
                   queue_words(workers, numbers)};
  text.details.emplace_back("It gets no further worker: it has as many as it may have (ThreadPool.SetMaxThreads).");
  return text;
}

FindingText starved_queue_text(std::size_t workers, const PoolNumbers& numbers) {
  FindingText text = starved_pool_text(workers, 0, {}, true);
  text.details = queue_words(workers, numbers);
  return text;
}

FindingText process_output_text(std::size_t threads, const Thread& first) {
  return {(threads == 1 ? thread_words(first, "Thread") + " waits" : threads_wait(threads)) +
              " for the output of a process that has ended",
          {"Another process has inherited the pipe, and has not closed it. WaitForExit with a time limit does not wait "
           "for the output."}};
}

FindingText unclear_task_text(std::size_t threads, const Thread& first, std::string_view ends) {
  return {(threads == 1 ? thread_words(first, "Thread") + " waits" : threads_wait(threads)) +
              " for a task, and it is not known what ends it",
          {std::string(ends)}};
}

FindingText common_call_text(std::size_t threads, std::string_view call) {
  FindingText text{count_words(threads, "thread") + " have not come back from " + std::string(call), {}};
  if (call == kApartmentCalls) text.details.emplace_back(kApartmentHint);
  return text;
}

FindingText stuck_text(std::size_t threads, const Thread& first, const Wait& wait) {
  FindingText text{threads == 1 ? thread_words(first, "Thread") + " is stuck"
                                : count_words(threads, "thread") + " are stuck in the same stack",
                   {}};
  if (calls_apartment(wait)) text.details.emplace_back(kApartmentHint);
  return text;
}

FindingText exit_text(bool hangs, const Thread* exits) {
  return {hangs ? "The program does not end: a handler of ProcessExit hangs"
                : "The program ends, and waits for a handler of ProcessExit",
          {asked_for_exit(exits)}};
}

std::string exit_detail(const Thread* exits) {
  return "The program ends: the finalizer thread runs the handlers of ProcessExit. " + asked_for_exit(exits);
}

FindingText finalizer_text(std::string_view does, std::string_view place, bool sleeps, const Wait& wait) {
  FindingText text{"The finalizer thread " + std::string(does) + " in " + std::string(place), {}};
  text.details.emplace_back(sleeps ? "It continues by itself, unless it sleeps for ever. No object with a finalizer is "
                                     "freed meanwhile."
                                   : "No object with a finalizer is freed any more: memory and handles grow.");
  if (calls_apartment(wait)) text.details.emplace_back(kApartmentHint);
  return text;
}

std::string finalizer_detail(std::size_t waiters) {
  return "The finalizer thread is one of them, and " + count_words(waiters, "more thread") +
         (waiters == 1 ? " waits" : " wait") + " for its finalizers.";
}

}  // namespace mixwalk
