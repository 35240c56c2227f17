#pragma once

#include <windows.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace mixwalk {

// Which threads of the target mixwalk.exe has suspended from outside: a page that it shares with its watcher
// (suspension_watcher.h), which resumes them when mixwalk.exe is ended meanwhile. Nothing here allocates or waits.
struct SuspensionLedger {
  // Four times as many threads as one moment suspends together. Threads beyond that have no entry.
  static constexpr std::size_t kSlots = 16'384;
  std::uint32_t process_id = 0;  // of the target
  // The thread's id; above it kSuspended, its suspend count before, and kResumes. 0 if free.
  std::array<std::atomic<std::uint64_t>, kSlots> slots{};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// From here on entries are written to this ledger; null means nowhere. The ledger is never removed again.
void record_suspensions_in(SuspensionLedger* ledger) noexcept;

// The entry of one suspension of one thread.
class SuspensionEntry {
 public:
  // Before SuspendThread.
  void begin(std::uint32_t thread_id) noexcept;
  // SuspendThread has returned `count_before`: the thread is suspended.
  void set_suspended(DWORD count_before) noexcept;
  // Before ResumeThread.
  void resumes() noexcept;
  // After ResumeThread, or where SuspendThread failed.
  void end() noexcept;

 private:
  std::atomic<std::uint64_t>* slot_ = nullptr;  // null if there is none
};

// Resumes, once each, the threads of that process that the ledger lists as suspended. Where a thread was just being
// suspended or resumed, it is not certain that mixwalk.exe's suspension is in effect: such a thread is resumed only
// where its suspend count is higher than before. Returns how many were resumed.
std::size_t resume_all(const SuspensionLedger& ledger);

}  // namespace mixwalk
