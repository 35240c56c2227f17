#include "walker/locks/timeouts.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "unmanaged/ascii_lower.h"
#include "unmanaged/image/exports_name.h"
#include "walker/clr/tasks/managed_objects.h"
#include "walker/hang/context_waits.h"
#include "walker/hang/wait_limit.h"
#include "walker/locks/waiting_threads.h"
#include "walker/model/runtime_images.h"

namespace mixwalk {
namespace {

constexpr std::size_t kMaxTimedThreads = 1000;
constexpr std::chrono::seconds kMaxTimeoutsTime{2};
constexpr std::uint64_t kSystemCallBytes = 0x20;  // of the function of a system call in ntdll.dll, up to its end
constexpr std::size_t kFifthArgument = WaitingThreads::kRegisters + 5;  // behind the return address and four homes

constexpr std::string_view kThreads = "System.Threading.";

// The frames of a wait of managed code.
struct ManagedWait {
  std::size_t managed = 0;  // the first managed frame, or the first one that is not of a SynchronizationContext's wait
  std::size_t last = 0;     // the outermost method of System.Threading, or else that managed frame
};

// Which threads wait for managed code, by their frames.
class ManagedWaits {
 public:
  explicit ManagedWaits(const Snapshot& snapshot) : snapshot_(snapshot), runtime_(runtime_images(snapshot)) {}

  // Nothing if the frames say whether there is a limit, or if the runtime has not made the system call for managed
  // code. Code that a wait lets in is not called by the runtime itself.
  std::optional<ManagedWait> of(const Thread& thread) const {
    const std::vector<StackFrame>& frames = thread.stack.frames;
    if (frames.empty() || frames[0].address_kind != AddressKind::instruction_pointer) return std::nullopt;
    if (!is_in(frames[0], "ntdll.dll")) return std::nullopt;
    std::size_t i = 1;
    while (i < frames.size() && is_in(frames[i], "kernelbase.dll")) ++i;
    const std::size_t runtime = i;
    while (i < frames.size() && is_runtime(frames[i])) ++i;
    const auto is_managed = [&](std::size_t at) {
      return at + 1 < frames.size() && at <= kMaxManagedWaitFrames && frames[at].kind == FrameKind::managed;
    };
    if (runtime == 1 || i == runtime || !is_managed(i)) return std::nullopt;
    // A context that waits for the thread gives the runtime the limit of the method that waits.
    i = std::max<std::size_t>(i, begin_of_wait(frames, [&](const Frame& frame) { return is_runtime(frame); }));
    if (!is_managed(i)) return std::nullopt;
    ManagedWait wait{.managed = i, .last = i};
    while (wait.last + 2 < frames.size() && frames[wait.last + 1].kind == FrameKind::managed &&
           frames[wait.last].name.starts_with(kThreads) && frames[wait.last + 1].name.starts_with(kThreads)) {
      ++wait.last;
    }
    const auto end = frames.begin() + static_cast<std::ptrdiff_t>(wait.last) + 2;
    if (std::any_of(frames.begin(), end, [](const StackFrame& frame) { return is_guess(frame.trust); })) {
      return std::nullopt;
    }
    return is_known(thread, wait) ? std::nullopt : std::optional(wait);
  }

 private:
  bool is_in(const Frame& frame, std::string_view image) const {
    return frame.kind == FrameKind::native && frame.module != Frame::kNone &&
           ascii_lower(module_name(snapshot_.modules[static_cast<std::size_t>(frame.module)])) == image;
  }
  bool is_runtime(const Frame& frame) const {
    return frame.kind == FrameKind::native && frame.module != Frame::kNone &&
           runtime_[static_cast<std::size_t>(frame.module)];
  }

  // In .NET 8 no method of System.Threading is on the stack if code of the program enters a monitor.
  static bool is_known(const Thread& thread, const ManagedWait& wait) {
    return thread.stack.frames[wait.managed].name.starts_with(kThreads) && limit_of_wait(thread) == WaitLimit::none;
  }

  const Snapshot& snapshot_;
  const std::vector<bool> runtime_;  // by module
};

class TimeoutSearch {
 public:
  TimeoutSearch(Snapshot& snapshot, Target& target, ClrQuestions& clr)
      : snapshot_(snapshot), target_(target), clr_(clr), waiting_(target), waits_(snapshot) {
    for (const Lock& lock : snapshot.locks) {
      for (const LockWaiter& waiter : lock.waiters) wait_.insert(waiter.os_id);
    }
    for (const Thread& thread : snapshot.threads) {
      if (thread.waits_for_task != AsyncTask::kNone) wait_.insert(thread.os_id);
    }
  }

  void add() {
    if (wait_.empty() || !find_system_call()) return;
    forget_what_was_read(target_, clr_);
    std::vector<Waiter> waiters;
    for (Thread& thread : snapshot_.threads) {
      if (!wait_.contains(thread.os_id)) continue;
      const auto wait = waits_.of(thread);
      if (!wait || thread.stack.frames[0].address - system_call_ >= kSystemCallBytes) continue;
      if (waiters.size() == kMaxTimedThreads || std::chrono::steady_clock::now() >= end_) break;
      if (auto waiter = captured(thread, *wait)) waiters.push_back(std::move(*waiter));
    }
    const bool live = forget_what_was_read(target_, clr_);
    ManagedObjects objects(target_.memory(), clr_);
    for (const Waiter& waiter : waiters) {
      ThreadTraits& traits = waiter.thread->traits;
      if (waiter.words[kFifthArgument] != 0) {
        traits.limited = true;
        continue;
      }
      if (std::chrono::steady_clock::now() >= end_) break;
      if (may_be_cancelled(objects, waiter.words) || !clr_.obstacle().empty()) continue;
      // A collection would have moved what the words lead to.
      traits.unlimited = !live || waiting_.all_words_of(*waiter.thread, waiter.end) == waiter.words;
    }
  }

 private:
  struct Waiter {
    Thread* thread = nullptr;
    std::uint64_t end = 0;             // of the arguments of the wait
    std::vector<std::uint64_t> words;  // WaitingThreads::all_words_of()
  };

  // A thread that goes on, and waits for a collection in the runtime, makes another system call.
  bool find_system_call() {
    for (const Module& module : snapshot_.modules) {
      if (ascii_lower(module_name(module)) != "ntdll.dll") continue;
      const auto rva = export_rva(target_.memory(), module.base, "NtWaitForMultipleObjects");
      if (rva) system_call_ = module.base + *rva;
    }
    return system_call_ != 0;
  }

  std::optional<Waiter> captured(Thread& thread, const ManagedWait& wait) {
    const auto end = end_of_arguments(thread, wait.last);
    if (!end || !is_managed_wait_part(thread, *end)) return std::nullopt;
    Waiter waiter{.thread = &thread, .end = *end, .words = waiting_.all_words_of(thread, *end)};
    if (waiter.words.size() <= kFifthArgument || !returns_as(thread, wait, waiter.words)) return std::nullopt;
    return waiter;
  }

  // Whether the thread is still in all of these calls.
  static bool returns_as(const Thread& thread, const ManagedWait& wait, const std::vector<std::uint64_t>& words) {
    const std::vector<StackFrame>& frames = thread.stack.frames;
    const std::uint64_t begin = frames[0].stack_pointer;
    for (std::size_t i = 1; i <= wait.last + 1; ++i) {
      const std::uint64_t at = frames[i].stack_pointer - 8;
      const std::uint64_t place = WaitingThreads::kRegisters + (at - begin) / 8;
      if (at < begin || at % 8 != 0 || place >= words.size() || words[place] != frames[i].address) return false;
    }
    return true;
  }

  // Also if no object of the wait is found, since then none of a cancellation would be.
  static bool may_be_cancelled(ManagedObjects& objects, const std::vector<std::uint64_t>& words) {
    objects.expect(words);
    bool found = false;
    for (const std::uint64_t word : words) {
      const ManagedType* const type = objects.type_of(word);
      if (type == nullptr) continue;
      if (type->is("System.Threading.CancellationTokenSource")) return true;
      found = true;
    }
    return !found;
  }

  Snapshot& snapshot_;
  Target& target_;
  ClrQuestions& clr_;
  WaitingThreads waiting_;
  const ManagedWaits waits_;
  std::set<std::uint32_t> wait_;     // OS ids of the threads whose limit matters
  const std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + kMaxTimeoutsTime;
  std::uint64_t system_call_ = 0;  // the address of NtWaitForMultipleObjects
};

}  // namespace

bool has_timeouts(const Snapshot& snapshot) {
  const ManagedWaits waits(snapshot);
  return std::ranges::any_of(snapshot.threads, [&](const Thread& thread) { return waits.of(thread).has_value(); });
}

void add_timeouts(Snapshot& snapshot, Target& target, ClrQuestions& clr) {
  TimeoutSearch(snapshot, target, clr).add();
}

}  // namespace mixwalk
