#include "walker/locks/callbacks.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "walker/clr/old_copies.h"
#include "walker/clr/tasks/managed_objects.h"
#include "walker/hang/frame_names.h"
#include "walker/locks/waiting_threads.h"
#include "walker/model/thread_locks.h"

namespace mixwalk {
namespace {

constexpr std::size_t kMaxCallbackWaiters = 1000;
constexpr std::chrono::seconds kMaxCallbacksTime{2};

// CancellationTokenSource.cs of .NET 8 to 10 (public).
constexpr std::string_view kRegistrations = "System.Threading.CancellationTokenSource+Registrations",
                           kWaitForCallback = ".WaitForCallbackToComplete(",
                           kToken = "System.Threading.CancellationToken";

bool waits_for_callback(const Frame& frame) {
  return frame.kind == FrameKind::managed && frame.name.starts_with(kRegistrations) &&
         std::string_view(frame.name).substr(kRegistrations.size()).starts_with(kWaitForCallback);
}

bool runs_callbacks(const Thread& thread) {
  return std::ranges::any_of(thread.stack.frames, [](const StackFrame& frame) {
    return runs_cancellation_callbacks(frame) && !is_guess(frame.trust);
  });
}

class CallbackSearch {
 public:
  CallbackSearch(Snapshot& snapshot, Target& target, ClrQuestions& clr)
      : snapshot_(snapshot), target_(target), clr_(clr), waiting_(target) {}

  void add() {
    forget_what_was_read(target_, clr_);
    std::vector<Waiter> waiters;
    for (const Thread& thread : snapshot_.threads) {
      const auto end = callback_wait_end(thread);
      if (!end || !is_managed_wait_part(thread, *end) || waiters.size() == kMaxCallbackWaiters) continue;
      Waiter one{.thread = &thread, .end = *end, .words = waiting_.all_words_of(thread, *end)};
      if (!one.words.empty()) waiters.push_back(std::move(one));
    }
    forget_what_was_read(target_, clr_);
    for (const ClrThread& thread : clr_.threads()) {
      if (thread.os_id != 0 && thread.managed_id != 0) threads_[thread.managed_id] = thread.os_id;
    }
    ManagedObjects objects(target_.memory(), clr_);
    for (Waiter& waiter : waiters) {
      if (std::chrono::steady_clock::now() >= end_) break;
      waiter.callback = callback_of(objects, waiter);
    }
    forget_what_was_read(target_, clr_);
    for (const Waiter& waiter : waiters) {
      if (std::chrono::steady_clock::now() >= end_) break;
      if (waiter.callback.object == 0 || !still_waits(waiter)) continue;
      forget_what_was_read(target_, clr_);
      if (read(waiter.callback.object) != waiter.callback) continue;
      const auto runner = threads_.find(waiter.callback.thread);
      if (runner == threads_.end()) continue;
      const auto thread = std::ranges::find(snapshot_.threads, runner->second, &Thread::os_id);
      if (thread == snapshot_.threads.end() || !runs_callbacks(*thread)) continue;
      ends_[runner->second].push_back({waiter.thread->os_id});
    }
    std::vector<Lock> callbacks;
    for (auto& [runner, of] : ends_) {
      std::ranges::sort(of, {}, &LockWaiter::os_id);
      callbacks.push_back({.kind = LockKind::callback,
                           .type = std::string(kToken),
                           .owner = runner,
                           .held = true,
                           .waiters = std::move(of)});
    }
    add_locks(snapshot_, std::move(callbacks));
  }

 private:
  // What a Registrations says about the callback that runs now.
  struct Callback {
    std::uint64_t object = 0;  // the Registrations
    std::uint64_t id = 0;      // 0: none
    std::uint64_t next = 0;    // the next number that a callback will get
    std::uint32_t thread = 0;  // the managed id of the thread that runs it

    bool operator==(const Callback&) const = default;
  };
  struct Waiter {
    const Thread* thread = nullptr;
    std::uint64_t end = 0;             // callback_wait_end()
    std::vector<std::uint64_t> words;  // WaitingThreads::all_words_of()
    Callback callback = {};
  };

  Callback read(std::uint64_t object) {
    ManagedObjects objects(target_.memory(), clr_);
    return read(objects, object);
  }
  static Callback read(ManagedObjects& objects, std::uint64_t object) {
    const ManagedType* const type = objects.type_of(object);
    if (type == nullptr || type->clr.name != kRegistrations) return {};
    const auto id = objects.value(object, *type, "ExecutingCallbackId");
    const auto thread = objects.value<std::uint32_t>(object, *type, "ThreadIDExecutingCallbacks");
    const auto next = objects.value(object, *type, "NextAvailableId");
    return id && next && thread ? Callback{object, *id, *next, *thread} : Callback{};
  }

  // Nothing is known (object 0) if there are several.
  Callback callback_of(ManagedObjects& objects, const Waiter& waiter) {
    objects.expect(waiter.words);
    std::map<std::uint64_t, Callback> found;  // by the object
    for (const std::uint64_t word : waiter.words) {
      const Callback one = read(objects, word);
      const auto runner = threads_.find(one.thread);
      const bool own = runner != threads_.end() && runner->second == waiter.thread->os_id;
      if (one.object != 0 && !own) found.emplace(word, one);
    }
    if (found.size() > 1) {
      std::vector<std::uint64_t> several;
      for (const auto& [object, callback] : found) several.push_back(object);
      for (const std::uint64_t copy : old_copies(clr_, several)) found.erase(copy);
    }
    if (found.size() != 1) return {};
    const Callback only = found.begin()->second;
    const bool newer = std::ranges::any_of(waiter.words, [&](std::uint64_t word) {
      return word > only.id && word < only.next;
    });
    return only.id != 0 && has(waiter.words, only.id) && !newer ? only : Callback{};
  }

  static bool has(const std::vector<std::uint64_t>& words, std::uint64_t word) {
    return std::ranges::find(words, word) != words.end();
  }

  bool still_waits(const Waiter& waiter) {
    const std::vector<std::uint64_t> words = waiting_.all_words_of(*waiter.thread, waiter.end);
    return has(words, waiter.callback.object) && has(words, waiter.callback.id);
  }

  Snapshot& snapshot_;
  Target& target_;
  ClrQuestions& clr_;
  WaitingThreads waiting_;
  const std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + kMaxCallbacksTime;
  std::map<std::uint32_t, std::uint32_t> threads_;         // OS ids, by managed ids
  std::map<std::uint32_t, std::vector<LockWaiter>> ends_;  // by the OS id of the thread that runs the callback
};

}  // namespace

std::optional<std::uint64_t> callback_wait_end(const Thread& thread) {
  const auto frame = frame_of_wait(thread, waits_for_callback);
  return frame ? end_of_arguments(thread, *frame) : std::nullopt;
}

bool has_callback_waits(const Snapshot& snapshot) {
  return std::ranges::any_of(snapshot.threads,
                             [](const Thread& thread) { return callback_wait_end(thread).has_value(); });
}

void add_callbacks(Snapshot& snapshot, Target& target, ClrQuestions& clr) {
  if (has_callback_waits(snapshot)) CallbackSearch(snapshot, target, clr).add();
}

}  // namespace mixwalk
