#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "walker/suspended/freeze_ledger.h"

namespace mixwalk {

// Resumes threads of the process that is watched.
class ThreadResumer {
 public:
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
// that the target can prolong. It resumes at most kMaxThreads threads, each at most kMaxPerThread times, or as often as
// set_most_per_thread() allows. Both counts
// begin anew when our threads in the target have ended, since from then on only mixwalk.exe can resume. It takes a
// suspension only if it can call ResumeThread afterwards, because a suspension that it does not take is undone by our
// threads in the target. Only the caller's clock is used. Not thread-safe.
class FreezeWatch {
 public:
  static constexpr std::uint32_t kMaxPerThread = 2;
  static constexpr std::size_t kMaxThreads = 4096;

  // `limit_ms`: a suspension is overdue when look() has seen it for this long.
  FreezeWatch(LedgerPage& page, std::uint64_t limit_ms) noexcept
      : page_(page), limit_ms_(limit_ms) {}
  void set_limit(std::uint64_t limit_ms) noexcept { limit_ms_ = limit_ms; }
  void set_most_per_thread(std::uint32_t times) noexcept { most_per_thread_ = times; }

  // Undoes the suspensions that are overdue, or all of them if our threads in the target have ended. Returns how often
  // a thread was resumed.
  int look(std::uint64_t now_ms, bool agent_ended, ThreadResumer& resumer);
  // Whether there was a suspension at the last look that may have to be undone later.
  bool any() const noexcept { return any_; }

 private:
  struct Seen {
    LedgerEntry entry;  // without its state
    std::uint64_t since_ms = 0;
  };
  int give_back(std::atomic<std::uint64_t>& slot, const LedgerEntry& entry, ThreadResumer& resumer);
  bool may_resume(std::uint32_t thread) const;
  std::uint32_t resume(std::uint32_t thread, ThreadResumer& resumer);

  LedgerPage& page_;
  std::uint64_t limit_ms_;
  std::uint32_t most_per_thread_ = kMaxPerThread;
  std::array<Seen, LedgerPage::kSlots> seen_{};
  std::map<std::uint32_t, std::uint32_t> resumed_;  // how often each thread was resumed
  bool any_ = false;
  bool agent_ended_ = false;
};

}  // namespace mixwalk
