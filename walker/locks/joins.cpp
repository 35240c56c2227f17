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

// The limits for the frames of the wait, including those of the runtime and the system, and for threads that wait.
constexpr std::size_t kMaxJoinFrames = 40, kMaxJoining = 1000;
constexpr std::uint64_t kMaxJoinBytes = 16 << 10;
constexpr std::size_t kJoinRegisters = 16;
// A function keeps its arguments in the room that its caller has for them.
constexpr std::uint64_t kJoinHomeBytes = 0x20;

constexpr std::string_view kJoin = "System.Threading.Thread.Join", kThreading = "System.Threading.";
// A SynchronizationContext that has asked to wait itself, whatever its type is.
constexpr std::string_view kOwnWait = ".Wait(System.IntPtr[], System.Boolean, System.Int32)";

bool joins(const Frame& frame) { return frame.kind == FrameKind::managed && frame.name.starts_with(kJoin); }

class JoinSearch {
 public:
  JoinSearch(Snapshot& snapshot, Target& target, ClrQuestions& clr)
      : snapshot_(snapshot), target_(target), clr_(clr), waiting_(target) {}

  void add() {
    forget();
    std::vector<Joining> joining;
    for (const Thread& thread : snapshot_.threads) {
      if (lock_waited_for_by(snapshot_, thread.os_id).lock != nullptr) continue;  // Windows knows the joined thread
      const auto end = join_end(thread);
      const std::uint64_t begin = end ? thread.stack.frames.front().stack_pointer : 0;
      if (!end || *end < begin || *end - begin > kMaxJoinBytes || joining.size() == kMaxJoining) continue;
      Joining one{.thread = &thread, .end = *end, .words = waiting_.words_of(thread, *end, kMaxJoinBytes)};
      // None of these words may be missing, because another thread could then be taken for the joined one.
      if (one.words.size() == kJoinRegisters + (*end - begin) / 8) joining.push_back(std::move(one));
    }
    forget();
    const std::vector<ClrThread> threads = clr_.threads();
    for (const ClrThread& thread : threads) {
      if (thread.object != 0) threads_.emplace(thread.object, thread);
    }
    for (const Joining& one : joining) {
      const std::uint32_t joined = joined_by(one);
      const bool listed = std::ranges::find(snapshot_.threads, joined, &Thread::os_id) != snapshot_.threads.end();
      // A thread that has moved meanwhile may wait for another one now.
      if (joined == 0 || !listed || waiting_.words_of(*one.thread, one.end, kMaxJoinBytes) != one.words) continue;
      ends_[joined].push_back({one.thread->os_id});
    }
    for (auto& [joined, waiters] : ends_) {
      std::ranges::sort(waiters, {}, &LockWaiter::os_id);
      snapshot_.locks.push_back(
          {.kind = LockKind::thread_end, .owner = joined, .held = true, .waiters = std::move(waiters)});
    }
    std::ranges::stable_sort(snapshot_.locks, {}, &Lock::kind);
  }

 private:
  struct Joining {
    const Thread* thread = nullptr;
    std::uint64_t end = 0;             // join_end()
    std::vector<std::uint64_t> words;  // WaitingThreads::words_of()
  };

  // Data that was read before the threads were captured may differ from what the threads wait for now.
  void forget() {
    if (target_.forget_memory()) clr_.target_ran();
  }

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
  for (std::size_t i = 0; i < frames.size() && i < kMaxJoinFrames; ++i) {
    if (frames[i].kind == FrameKind::gap || is_guess(frames[i].trust)) return std::nullopt;
    if (frames[i].kind != FrameKind::managed) continue;
    if (joins(frames[i])) {
      while (i + 1 < frames.size() && joins(frames[i + 1])) ++i;
      if (i + 1 == frames.size() || frames[i + 1].stack_pointer == 0) return std::nullopt;
      return frames[i + 1].stack_pointer + kJoinHomeBytes;
    }
    if (!frames[i].name.starts_with(kThreading) && !frames[i].name.ends_with(kOwnWait)) return std::nullopt;
  }
  return std::nullopt;
}

bool has_joins(const Snapshot& snapshot) {
  return std::ranges::any_of(snapshot.threads, [](const Thread& thread) { return join_end(thread).has_value(); });
}

void add_joins(Snapshot& snapshot, Target& target, ClrQuestions& clr) {
  if (has_joins(snapshot)) JoinSearch(snapshot, target, clr).add();
}

}  // namespace mixwalk
