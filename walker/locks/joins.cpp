#include "walker/locks/joins.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "walker/locks/waiting_threads.h"
#include "walker/model/thread_locks.h"

namespace mixwalk {
namespace {

constexpr std::size_t kMaxJoining = 1000;  // threads

constexpr std::string_view kJoin = "System.Threading.Thread.Join";

bool joins(const Frame& frame) { return frame.kind == FrameKind::managed && frame.name.starts_with(kJoin); }

class JoinSearch {
 public:
  JoinSearch(Snapshot& snapshot, Target& target, ClrQuestions& clr)
      : snapshot_(snapshot), target_(target), clr_(clr), waiting_(target) {}

  void add() {
    forget_what_was_read(target_, clr_);
    std::vector<Joining> joining;
    for (const Thread& thread : snapshot_.threads) {
      if (lock_waited_for_by(snapshot_, thread.os_id).lock != nullptr) continue;  // Windows knows the joined thread
      const auto end = join_end(thread);
      if (!end || !is_managed_wait_part(thread, *end) || joining.size() == kMaxJoining) continue;
      Joining one{.thread = &thread, .end = *end, .words = waiting_.all_words_of(thread, *end)};
      if (!one.words.empty()) joining.push_back(std::move(one));
    }
    forget_what_was_read(target_, clr_);
    const std::vector<ClrThread> threads = clr_.threads();
    for (const ClrThread& thread : threads) {
      if (thread.object != 0) threads_.emplace(thread.object, thread);
    }
    for (const Joining& one : joining) {
      const std::uint32_t joined = joined_by(one);
      const bool listed = std::ranges::find(snapshot_.threads, joined, &Thread::os_id) != snapshot_.threads.end();
      // A thread that has moved meanwhile may wait for another one now.
      if (joined == 0 || !listed || waiting_.all_words_of(*one.thread, one.end) != one.words) continue;
      ends_[joined].push_back({one.thread->os_id});
    }
    std::vector<Lock> ends;
    for (auto& [joined, waiters] : ends_) {
      std::ranges::sort(waiters, {}, &LockWaiter::os_id);
      ends.push_back({.kind = LockKind::thread_end, .owner = joined, .held = true, .waiters = std::move(waiters)});
    }
    add_locks(snapshot_, std::move(ends));
  }

 private:
  struct Joining {
    const Thread* thread = nullptr;
    std::uint64_t end = 0;             // join_end()
    std::vector<std::uint64_t> words;  // WaitingThreads::all_words_of()
  };

  // The OS id of the thread for whose end this one waits; 0 if it is not proven.
  std::uint32_t joined_by(const Joining& joining) const {
    const std::unordered_set<std::uint64_t> words(joining.words.begin(), joining.words.end());
    const ClrThread* joined = nullptr;
    for (const std::uint64_t word : words) {
      const auto found = threads_.find(word);
      if (found == threads_.end() || found->second.os_id == joining.thread->os_id) continue;
      if (!words.contains(found->second.address)) continue;
      if (joined != nullptr) return 0;
      joined = &found->second;
    }
    return joined != nullptr ? joined->os_id : 0;
  }

  Snapshot& snapshot_;
  Target& target_;
  ClrQuestions& clr_;
  WaitingThreads waiting_;
  std::unordered_map<std::uint64_t, ClrThread> threads_;   // by the address of the System.Threading.Thread
  std::map<std::uint32_t, std::vector<LockWaiter>> ends_;  // by the OS id of the joined thread
};

}  // namespace

std::optional<std::uint64_t> join_end(const Thread& thread) {
  const std::vector<StackFrame>& frames = thread.stack.frames;
  auto join = frame_of_wait(thread, joins);
  while (join && *join + 1 < frames.size() && joins(frames[*join + 1])) ++*join;
  return join ? end_of_arguments(thread, *join) : std::nullopt;
}

bool has_joins(const Snapshot& snapshot) {
  return std::ranges::any_of(snapshot.threads, [](const Thread& thread) { return join_end(thread).has_value(); });
}

void add_joins(Snapshot& snapshot, Target& target, ClrQuestions& clr) {
  if (has_joins(snapshot)) JoinSearch(snapshot, target, clr).add();
}

}  // namespace mixwalk
