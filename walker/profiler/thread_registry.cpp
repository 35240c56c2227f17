#include "walker/profiler/thread_registry.h"

#include <algorithm>
#include <new>

#include "walker/profiler/slim_lock.h"
#include "walker/suspended/watched_time.h"

namespace mixwalk {

void ThreadRegistry::assigned(std::uint64_t clr_id, std::uint32_t os_id) {
  if (lost_) return;
  SlimLock lock(lock_);
  if (!lock) return mark_inconsistent();
  // The old entry is erased first, so that a failure below leaves no entry for the CLR thread that had this OS thread
  // before.
  by_os_id_.erase(os_id);
  Known& known = threads_[clr_id];
  if (known.os_id != 0) by_os_id_.erase(known.os_id);
  by_os_id_[os_id] = clr_id;
  known.os_id = os_id;
  WakeAllConditionVariable(&named_);
}

void ThreadRegistry::renamed(std::uint64_t clr_id, std::string name) {
  if (lost_) return;
  SlimLock lock(lock_);
  if (!lock) return mark_inconsistent();
  threads_[clr_id].name = std::move(name);
  WakeAllConditionVariable(&named_);
}

bool ThreadRegistry::claimer_lives() const noexcept {
  const HANDLE claimer = claimer_;
  return claimer == nullptr || WaitForSingleObject(claimer, 0) == WAIT_TIMEOUT;
}

// Waits until a claim has ended, or for a moment.
void ThreadRegistry::wait_for_release() noexcept {
  constexpr DWORD kMomentMs = 1;  // up to a tick of 15.6 ms
  if (!claim_ended_) return Sleep(kMomentMs);
  WaitForSingleObject(claim_ended_.get(), kMomentMs);
}

// Waits for the end of all claims, because any thread may be the one that is claimed. All threads together wait for
// `patience_ms_`, and look kLooks times at the least, because the machine may have stood still.
void ThreadRegistry::mark_inconsistent() noexcept {
  constexpr int kLooks = 128;
  ULONGLONG never = 0;
  lost_since_.compare_exchange_strong(never, GetTickCount64());
  lost_ = true;
  while (all_claims_ != 0 && claimer_lives()) {
    if (looks_since_lost_.fetch_add(1) >= kLooks && GetTickCount64() - lost_since_ >= patience_ms_) return;
    Sleep(1);
  }
}

// The lock is not held while this waits for the end of a claim, because a wait on a condition variable takes the lock
// again without a time limit, and the program may have stopped the lock's owner.
void ThreadRegistry::destroyed(std::uint64_t clr_id) {
  constexpr std::uint64_t kLongestGapMs = 32;  // two ticks of the system's clock
  WatchedTime waited(kLongestGapMs, patience_ms_);
  while (true) {
    {
      SlimLock lock(lock_);
      if (!lock || lost_) break;
      if (enumerating_) remember_destroyed(clr_id);
      const auto found = threads_.find(clr_id);
      if (found == threads_.end()) return;
      // This comes first, so that no claim can be made on the thread any more.
      const auto on_os_thread = by_os_id_.find(found->second.os_id);
      if (on_os_thread != by_os_id_.end() && on_os_thread->second == clr_id) {
        by_os_id_.erase(on_os_thread);
      }
      if (found->second.claims == 0 || waited.look(GetTickCount64()) >= patience_ms_ || !claimer_lives()) {
        threads_.erase(found);
        return;
      }
      ++waiting_;  // under the lock, so that the end of the claim comes later
    }
    wait_for_release();
    --waiting_;
  }
  mark_inconsistent();
}

// If memory is missing, the enumeration ends here, because it could otherwise add a thread that has ended.
void ThreadRegistry::remember_destroyed(std::uint64_t clr_id) noexcept {
  try {
    destroyed_meanwhile_.insert(clr_id);
  } catch (const std::bad_alloc&) {
    enumerating_ = false;
  }
}

void ThreadRegistry::begin_enumeration() {
  SlimLock lock(lock_);
  if (!lock) return mark_inconsistent();
  enumerating_ = true;
}

bool ThreadRegistry::claim_listed(std::uint64_t clr_id) {
  SlimLock lock(lock_);
  if (!lock || lost_ || !enumerating_ || destroyed_meanwhile_.contains(clr_id)) return false;
  ++threads_[clr_id].claims;
  ++all_claims_;
  return true;
}

void ThreadRegistry::enumerated(std::uint64_t clr_id, std::uint32_t os_id) {
  SlimLock lock(lock_);
  if (!lock) return mark_inconsistent();
  if (!enumerating_ || destroyed_meanwhile_.contains(clr_id)) return;
  Known& known = threads_[clr_id];
  if (known.os_id != 0) return;
  // The OS thread may have a newer CLR thread by now, known from a callback.
  if (!by_os_id_.try_emplace(os_id, clr_id).second) {
    threads_.erase(clr_id);
    return;
  }
  known.os_id = os_id;
}

void ThreadRegistry::end_enumeration() noexcept {
  SlimLock lock(lock_);
  if (!lock) return mark_inconsistent();
  enumerating_ = false;
  destroyed_meanwhile_.clear();
}

std::optional<ThreadRegistry::Entry> ThreadRegistry::claim(std::uint32_t os_id) {
  SlimLock lock(lock_);
  if (!lock || lost_) return std::nullopt;
  const auto found = by_os_id_.find(os_id);
  if (found == by_os_id_.end()) return std::nullopt;
  Known& known = threads_.find(found->second)->second;
  // This comes before the claim is counted, because the copy of the name may fail, and a claim without an owner would
  // never end.
  std::optional<Entry> entry(Entry{found->second, known.name});
  ++known.claims;
  ++all_claims_;
  return entry;
}

void ThreadRegistry::glance(std::uint32_t os_id, Glance& into) noexcept {
  if (!TryAcquireSRWLockExclusive(&lock_)) return;
  const auto found = lost_ ? by_os_id_.end() : by_os_id_.find(os_id);
  if (found != by_os_id_.end()) {
    into.clr_id = found->second;
    const std::string& name = threads_.find(found->second)->second.name;
    if (name.size() <= into.name.size()) {
      into.name_bytes = static_cast<std::uint32_t>(name.copy(into.name.data(), name.size()));
    }
  }
  ReleaseSRWLockExclusive(&lock_);
}

void ThreadRegistry::release(std::uint64_t clr_id) noexcept {
  {
    SlimLock lock(lock_);
    // A thread whose end has waited long enough is no longer known.
    const auto found = lock ? threads_.find(clr_id) : threads_.end();
    if (found != threads_.end()) {
      Known& known = found->second;
      if (known.claims > 0) --known.claims;
      // A thread of the list that has already ended leaves no entry.
      if (known.claims == 0 && known.os_id == 0 && known.name.empty()) threads_.erase(found);
    }
    --all_claims_;
  }
  if (waiting_ != 0) SetEvent(claim_ended_.get());
}

std::string ThreadRegistry::name_of(std::uint32_t os_id) {
  SlimLock lock(lock_);
  if (!lock) return {};
  const auto found = by_os_id_.find(os_id);
  return found == by_os_id_.end() ? std::string() : threads_[found->second].name;
}

std::vector<std::uint32_t> ThreadRegistry::os_ids() {
  std::vector<std::uint32_t> ids;
  {
    SlimLock lock(lock_);
    if (!lock) return ids;
    for (const auto& [os_id, clr_id] : by_os_id_) ids.push_back(os_id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::optional<std::uint32_t> ThreadRegistry::named(const std::string& prefix) const {
  for (const auto& [clr_id, known] : threads_) {
    if (known.os_id != 0 && known.name.starts_with(prefix)) return known.os_id;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> ThreadRegistry::wait_for_name(const std::string& prefix,
                                                           DWORD milliseconds) {
  const ULONGLONG end = GetTickCount64() + milliseconds;
  SlimLock lock(lock_);
  if (!lock) return std::nullopt;
  while (true) {
    if (const auto found = named(prefix)) return found;
    const ULONGLONG now = GetTickCount64();
    if (now >= end) return std::nullopt;
    SleepConditionVariableSRW(&named_, &lock_, static_cast<DWORD>(end - now), 0);
  }
}

}  // namespace mixwalk
