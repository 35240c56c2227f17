#include "walker/target/suspension/suspension_ledger.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "unmanaged/win/thread_information.h"
#include "unmanaged/win/unique_handle.h"
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

// 0 without kSuspended.
DWORD count_of(std::uint64_t entry) { return static_cast<DWORD>(entry >> kCountShift) & kMaxCount; }

std::atomic<SuspensionLedger*> kept{nullptr};

// A thread of the ledger, as the watcher finds it when mixwalk.exe has ended.
//
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
class Recorded {
 public:
  Recorded(const SuspensionLedger& ledger, std::uint64_t entry)
      : handle_(open_thread(THREAD_SUSPEND_RESUME | THREAD_QUERY_INFORMATION, static_cast<std::uint32_t>(entry))),
        is_certain_((entry & (kSuspended | kResumes)) == kSuspended),
        before_(count_of(entry)),
        most_(ledger.writer_at_work ? 2 : 1) {
    const auto info = handle_ ? thread_information(handle_.get()) : std::nullopt;
    if (!info || info->process_id != ledger.process_id) handle_.reset();
  }

  bool is_certain() const noexcept { return is_certain_; }
  // Returns how often the thread must be resumed, as far as its count says now.
  DWORD resumptions() const noexcept {
    if (!handle_) return 0;
    const DWORD now = count();
    return std::clamp(now > before_ ? now - before_ : 0, is_certain_ ? DWORD{1} : DWORD{0}, most_);
  }
  // Returns whether a call succeeded.
  bool resume(DWORD times) const noexcept {
    bool resumed = false;
    for (DWORD i = 0; i < times; ++i) resumed |= ResumeThread(handle_.get()) != kFailed;
    return resumed;
  }

 private:
  // Before Windows 8.1, one more suspension is the only way to learn the count. It fails at the largest count.
  DWORD count() const noexcept {
    if (const auto known = suspend_count(handle_.get())) return *known;
    const DWORD before = SuspendThread(handle_.get());
    if (before == kFailed) return 0;
    ResumeThread(handle_.get());
    return before;
  }

  UniqueHandle handle_;  // null if there is no such thread of the process
  bool is_certain_;  // we have suspended the thread, and have not begun to resume it
  DWORD before_, most_;
};

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

void SuspensionEntry::lower_count(DWORD count_before) noexcept {
  if (slot_ != nullptr && count_before < count_of(slot_->load())) set_suspended(count_before);
}

void SuspensionEntry::resumes() noexcept {
  if (slot_ != nullptr) slot_->store(slot_->load() | kResumes);
}

void SuspensionEntry::end() noexcept {
  if (slot_ != nullptr) slot_->store(0);
  slot_ = nullptr;
}

std::size_t resume_all(const SuspensionLedger& ledger, DWORD settle_ms) {
  std::size_t resumed = 0;
  std::vector<Recorded> doubtful;
  for (const auto& slot : ledger.slots) {
    const std::uint64_t entry = slot.load();
    if (entry == 0) continue;
    Recorded thread(ledger, entry);
    const DWORD times = thread.resumptions();
    if (thread.is_certain()) {
      resumed += thread.resume(times);
    } else if (times != 0) {
      doubtful.push_back(std::move(thread));
    }
  }
  if (!doubtful.empty()) Sleep(settle_ms);
  for (const Recorded& thread : doubtful) resumed += thread.resume(thread.resumptions());
  return resumed;
}

}  // namespace mixwalk
