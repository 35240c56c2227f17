#pragma once

#include <windows.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace mixwalk {

// The threads of the target that mixwalk.exe has suspended from outside, in a page that it shares with its watcher
// (suspension_watcher.h). The watcher resumes these threads if mixwalk.exe is ended meanwhile. No function here
// allocates or waits.
struct SuspensionLedger {
  // mixwalk.exe suspends at most a quarter of this number together (OutsideMoments::kMaxThreads). Further threads have
  // no entry.
  static constexpr std::size_t kSlots = 16'384;
  std::uint32_t process_id = 0;  // of the target
  // Whether MiniDumpWriteDump is at work. It suspends each thread once more itself, of which there is no entry.
  std::atomic<bool> writer_at_work{false};
  // The thread's id and, in the bits above it, kSuspended, its earlier suspend count, and kResumes. 0 if free.
  std::array<std::atomic<std::uint64_t>, kSlots> slots{};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// From here on entries are written to this ledger; if it is null, they are not written. The ledger is never removed
// again.
void record_suspensions_in(SuspensionLedger* ledger) noexcept;

// To be called before and after MiniDumpWriteDump.
void set_writer_at_work(bool at_work) noexcept;

// The entry of one suspension of one thread.
class SuspensionEntry {
 public:
  // To be called before SuspendThread.
  void begin(std::uint32_t thread_id) noexcept;
  // To be called when SuspendThread has returned `count_before`, so that the thread is suspended.
  void set_suspended(DWORD count_before) noexcept;
  // To be called before ResumeThread.
  void resumes() noexcept;
  // To be called after ResumeThread, or if SuspendThread failed.
  void end() noexcept;

 private:
  std::atomic<std::uint64_t>* slot_ = nullptr;  // null if there is none
};

// Resumes, once each, the threads of that process that the ledger lists as suspended. If a thread was being suspended
// or resumed at that moment, it is not certain that mixwalk.exe's suspension is in effect. Such a thread is resumed
// only if its suspend count is higher than before. If MiniDumpWriteDump was at work, a thread that has been suspended
// once more since then is resumed once more. Returns how many threads were resumed.
std::size_t resume_all(const SuspensionLedger& ledger);

}  // namespace mixwalk
