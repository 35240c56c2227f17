#include "walker/outside/win/suspension_ledger.h"

#include <algorithm>

#include "unmanaged/win/thread_information.h"
#include "walker/session/win/token.h"

namespace mixwalk {
namespace {

// SuspendThread has returned, so the count before it is known.
constexpr std::uint64_t kSuspended = std::uint64_t{1} << 32;
constexpr int kCountShift = 33;
// ResumeThread is being called, and it is not known whether it has returned.
constexpr std::uint64_t kResumes = std::uint64_t{1} << 40;
// The largest suspend count of the system (MAXIMUM_SUSPEND_COUNT).
constexpr DWORD kMaxCount = 127;
// The result of SuspendThread and ResumeThread if they fail.
constexpr DWORD kFailed = static_cast<DWORD>(-1);

std::atomic<SuspensionLedger*> kept{nullptr};

// If we have certainly suspended the thread, one of its suspensions is ours, whatever its count is. Folklore: the
// runtime, or a debugger, had the thread suspended when we suspended it, and has resumed it since. Its count was then
// the same as before our suspension, and the thread stayed suspended for ever. (Real case: killed_test, in which the
// test itself suspends threads to learn their counts.) In all other cases the count is compared.
//
// Folklore: MiniDumpWriteDump suspends threads itself: Wine's one after the other, while it reads a thread's registers,
// and Windows' perhaps all of them. If mixwalk.exe is ended meanwhile, the writer does not resume them. Real case: one
// thread of the target stood for ever (killed_test; one kill of twelve in that time). Remedy: while the writer is at
// work, a suspension beyond ours is taken for the writer's. (Tests: Ledger.*Writer*, Watcher.*Writer*,
// Killed.WhatTheSystemsWriterHadSuspendedRunsAgain.)
bool resume(std::uint32_t process_id, std::uint64_t entry, bool writer_at_work) {
  const bool suspended = (entry & kSuspended) != 0;
  const DWORD before = suspended ? static_cast<DWORD>(entry >> kCountShift) & kMaxCount : 0;
  const DWORD least = suspended && (entry & kResumes) == 0 ? 1 : 0, most = writer_at_work ? 2 : 1;
  const UniqueHandle thread =
      open_thread(THREAD_SUSPEND_RESUME | THREAD_QUERY_INFORMATION, static_cast<std::uint32_t>(entry));
  if (!thread) return false;
  const auto info = thread_information(thread.get());
  if (!info || info->process_id != process_id) return false;
  // Suspends the thread once more, which is the documented way to learn the count. It fails at the largest count.
  const DWORD count = SuspendThread(thread.get());
  const bool known = count != kFailed;
  if (known) ResumeThread(thread.get());
  const DWORD times = std::clamp(known && count > before ? count - before : 0, least, most);
  bool resumed = false;
  for (DWORD i = 0; i < times; ++i) resumed |= ResumeThread(thread.get()) != kFailed;
  return resumed;
}

}  // namespace

void record_suspensions_in(SuspensionLedger* ledger) noexcept { kept.store(ledger); }

void set_writer_at_work(bool at_work) noexcept {
  if (SuspensionLedger* const ledger = kept.load()) ledger->writer_at_work = at_work;
}

void SuspensionEntry::begin(std::uint32_t thread_id) noexcept {
  slot_ = nullptr;
  SuspensionLedger* const ledger = kept.load();
  if (ledger == nullptr) return;
  // Thread ids are multiples of four, so the first slot is nearly always free.
  for (std::size_t i = 0; i < SuspensionLedger::kSlots; ++i) {
    std::atomic<std::uint64_t>& slot = ledger->slots[(thread_id / 4 + i) % SuspensionLedger::kSlots];
    std::uint64_t free = 0;
    if (!slot.compare_exchange_strong(free, thread_id)) continue;
    slot_ = &slot;
    return;
  }
}

void SuspensionEntry::set_suspended(DWORD count_before) noexcept {
  if (slot_ == nullptr) return;
  const std::uint64_t count = std::min(count_before, kMaxCount);
  slot_->store((slot_->load() & UINT32_MAX) | kSuspended | count << kCountShift);
}

void SuspensionEntry::resumes() noexcept {
  if (slot_ != nullptr) slot_->store(slot_->load() | kResumes);
}

void SuspensionEntry::end() noexcept {
  if (slot_ != nullptr) slot_->store(0);
  slot_ = nullptr;
}

std::size_t resume_all(const SuspensionLedger& ledger) {
  const bool writer_at_work = ledger.writer_at_work;
  std::size_t resumed = 0;
  for (const auto& slot : ledger.slots) {
    const std::uint64_t entry = slot.load();
    if (entry == 0) continue;
    resumed += resume(ledger.process_id, entry, writer_at_work);
  }
  return resumed;
}

}  // namespace mixwalk
