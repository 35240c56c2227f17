#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "walker/suspended/freeze_ledger.h"
#include "walker/suspended/watched_time.h"

namespace mixwalk {

// What the program has suspended of itself, beside the threads that we have suspended.
enum class Stopped {
  nothing,  // our threads can run; or it is not known what is suspended
  agent,    // the agent's thread
  process,  // the process as a whole (NtSuspendProcess)
};

// Resumes threads of the process that is watched.
class ThreadResumer {
 public:
  virtual Stopped stopped() = 0;
  // Whether the thread is suspended, by whomever; true if the system does not tell.
  virtual bool is_suspended(std::uint32_t thread) = 0;
  // Opens a thread for resume(). Returns false if the thread has ended, belongs to another process, or may not be
  // opened.
  virtual bool open(std::uint32_t thread) = 0;
  // Calls ResumeThread once for the thread that was opened last. Returns the suspend count that the thread had before,
  // or 0 if the system refuses.
  virtual std::uint32_t resume() = 0;

 protected:
  ~ThreadResumer() = default;
};

// Reads a ledger from outside the target, and resumes threads whose suspensions are overdue.
//
// The target may write anything into the ledger at any moment. So look() reads each slot once or twice and has no loop
// that the target can prolong. It resumes at most kMaxThreads threads, each at most kMaxPerThread times (see also
// set_patched()). Both counts begin anew when our threads in the target have ended, since from then on only mixwalk.exe
// can resume. It takes a suspension only if it can call ResumeThread afterwards, because a suspension that it does not
// take is undone by our threads in the target. Only the caller's clock is used, and the time between two looks counts
// to a limit (WatchedTime). Not thread-safe.
//
// While the agent lives, two kinds of suspensions are not taken, however long they last:
// - any, while the process as a whole is suspended. The threads do not run anyway. Of two suspensions one would be that
//   of the program, and not that of DoStackSnapshot. When the process continues, the time begins anew, because the
//   supervisor inside does its work then.
// - one in the state `suspending`, unless the program keeps the agent suspended, or kLastResortMs have passed. It is
//   never taken while the thread is not suspended: then SuspendThread has not happened yet, and nothing stands.
//
// Folklore: from outside it is not known whether a SuspendThread that is under way has happened. Situation: the agent's
// thread stands still around its SuspendThread for some seconds (a stalled machine, or NtSuspendProcess), and the
// program suspends the same thread before that, or afterwards. A suspension was taken in this state because it was
// overdue, and the program lost its own: 2 of 155 stops that were aimed at this state. Remedy: the two rules above, and
// an agent that stands still by itself goes on by itself. An agent that the program has suspended may stay so for ever,
// perhaps right behind its SuspendThread, so its suspension is taken. Tests: FreezeWatchTest.*Suspending*,
// SupervisorTest.*GivenBack*, ends_test.
class FreezeWatch {
 public:
  static constexpr std::uint32_t kMaxPerThread = 2, kMaxPerThreadPatched = 1'000;
  static constexpr std::size_t kMaxThreads = 4096;

  // The time between two looks counts for no more than this, which is twice the caller's period, or than a tenth of the
  // limit. So a suspension is overdue after five looks at the least, and after ten with a long limit.
  //
  // Folklore: on a machine with fifty busy programs for two processors, looks came half a second apart. With 40 ms for
  // each of them, a suspension that was 3 s late was not undone within 30 s (ends_test, 2 times of 2).
  static constexpr std::uint64_t kLongestGapMs = 40;
  // At how many looks in a row the agent must be suspended. Others suspend a thread for a moment as well: debuggers,
  // profilers.
  static constexpr int kStoppedLooks = 5;
  // A suspension in the state `suspending` is taken after this time, whatever the agent does. Code of other software
  // that mixwalk does not find (PatchedCall) may wait behind the agent's SuspendThread for the thread, for ever. A
  // program that loses a suspension of its own is harmed less than one that hangs.
  static constexpr std::uint64_t kLastResortMs = 30'000;

  // `limit_ms`: a suspension is overdue when look() has seen it for this long.
  FreezeWatch(LedgerPage& page, std::uint64_t limit_ms) noexcept
      : page_(page) { set_limit(limit_ms); }
  void set_limit(std::uint64_t limit_ms) noexcept {
    limit_ms_ = limit_ms;
    watched_.set_limit(kLongestGapMs, limit_ms);
  }
  // To be called if system calls of the target are patched (patched_calls.h). The agent may then wait in any of them
  // for a thread that it has frozen. In its SuspendThread it may wait for the thread that it has just suspended. So
  // from here on a suspension in the state `suspending` is taken as any other, and each thread is resumed
  // kMaxPerThreadPatched times at most. A recording is ended long before (record.cpp).
  void set_patched() noexcept { patched_ = true; }
  // To be called if another process looked at this page before, and has ended. It may have ended around its
  // ResumeThread, and may have called it or not. Then its suspension in the state `taking` counts as any other, and is
  // taken if the thread is suspended.
  void set_inherited() noexcept { inherited_ = true; }

  // Undoes the suspensions that are overdue, or all of them if our threads in the target have ended. Returns how many
  // freezes of a thread this has ended. If DoStackSnapshot's suspension of the same thread is undone as well, that is
  // one freeze.
  int look(std::uint64_t now_ms, bool agent_ended, ThreadResumer& resumer);
  // How long look() has been called for, without the time in which this process stood still.
  std::uint64_t watched_ms() const noexcept { return watched_.watched(); }
  // Whether there was a suspension at the last look that may have to be undone later.
  bool any() const noexcept { return any_; }
  // How long the oldest suspension that was under way at the last look has been seen.
  std::uint64_t longest_ms() const noexcept { return longest_ms_; }

 private:
  struct Seen {
    LedgerEntry entry;  // without its state
    std::uint64_t since_ms = 0;  // by watched_ms()
    int agent_stopped = 0;       // at how many of the last looks the agent was suspended; only for `suspending`
  };
  bool is_under_way(FreezeState state) const noexcept;
  bool may_take(const LedgerEntry& entry, Stopped stopped, Seen& seen, ThreadResumer& resumer) const;
  int give_back(std::atomic<std::uint64_t>& slot, const LedgerEntry& entry, ThreadResumer& resumer);
  bool may_resume(std::uint32_t thread) const;
  std::uint32_t resume(std::uint32_t thread, ThreadResumer& resumer);

  LedgerPage& page_;
  std::uint64_t limit_ms_ = 0;
  bool patched_ = false, inherited_ = false;
  WatchedTime watched_{kLongestGapMs};
  std::array<Seen, LedgerPage::kSlots> seen_{};
  std::map<std::uint32_t, std::uint32_t> resumed_;  // how often each thread was resumed
  bool any_ = false;
  std::uint64_t longest_ms_ = 0;
  bool agent_ended_ = false;
};

}  // namespace mixwalk
