#pragma once

#include <windows.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace mixwalk {

// The threads of the target that mixwalk.exe has suspended from outside, in a page that it shares with its watcher
// (suspension_watcher.h). The watcher resumes these threads if mixwalk.exe is ended meanwhile. Of the functions here,
// only resume_all allocates and waits.
struct SuspensionLedger {
  // mixwalk.exe suspends at most a quarter of this number together (OutsideMoments::kMaxThreads). Further threads have
  // no entry.
  static constexpr std::size_t kSlots = 16'384;
  std::uint32_t process_id = 0;  // of the target
  // Whether MiniDumpWriteDump is at work. It suspends threads as well, and the ledger has no entry for that.
  std::atomic<bool> writer_at_work{false};
  // The thread's id and, in the bits above it, kSuspended, its earlier suspend count, and kResumes. 0 if free.
  std::array<std::atomic<std::uint64_t>, kSlots> slots{};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

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
  // To be called if the thread's suspend count without our suspension is seen to be lower by now.
  void lower_count(DWORD count_before) noexcept;
  // To be called before ResumeThread. The entry may remain after ResumeThread, as long as MiniDumpWriteDump is at work.
  void resumes() noexcept;
  // To be called after ResumeThread, or if SuspendThread failed.
  void end() noexcept;

 private:
  std::atomic<std::uint64_t>* slot_ = nullptr;  // null if there is none
};

// Resumes the threads of that process that have an entry, until their suspend counts are as before. A thread is resumed
// at most once, or twice if MiniDumpWriteDump was at work. A thread that mixwalk.exe had certainly suspended is resumed
// at least once, whatever its count is. If that is not certain, the thread's count must still be higher after
// `settle_ms`, since the program suspends its own threads for moments. Returns how many threads were resumed.
std::size_t resume_all(const SuspensionLedger& ledger, DWORD settle_ms = 100);

}  // namespace mixwalk
