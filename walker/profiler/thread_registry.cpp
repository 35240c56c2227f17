#include "walker/profiler/thread_registry.h"

#include <algorithm>

#include "walker/profiler/slim_lock.h"

namespace mixwalk {

void ThreadRegistry::assigned(std::uint64_t clr_id, std::uint32_t os_id) {
  SlimLock lock(lock_);
  Known& known = threads_[clr_id];
  if (known.os_id != 0) by_os_id_.erase(known.os_id);
  known.os_id = os_id;
  by_os_id_[os_id] = clr_id;
  WakeAllConditionVariable(&named_);
}

void ThreadRegistry::renamed(std::uint64_t clr_id, std::string name) {
  SlimLock lock(lock_);
  threads_[clr_id].name = std::move(name);
  WakeAllConditionVariable(&named_);
}

void ThreadRegistry::destroyed(std::uint64_t clr_id) {
  SlimLock lock(lock_);
  if (enumerating_) destroyed_meanwhile_.insert(clr_id);
  auto found = threads_.find(clr_id);
  if (found == threads_.end()) return;
  // Anything may be added while this waits: iterators are not kept.
  while (found->second.claims != 0) {
    SleepConditionVariableSRW(&released_, &lock_, INFINITE, 0);
    found = threads_.find(clr_id);
  }
  const auto on_os_thread = by_os_id_.find(found->second.os_id);
  if (on_os_thread != by_os_id_.end() && on_os_thread->second == clr_id) {
    by_os_id_.erase(on_os_thread);
  }
  threads_.erase(found);
}

void ThreadRegistry::begin_enumeration() {
  SlimLock lock(lock_);
  enumerating_ = true;
}

void ThreadRegistry::enumerated(std::uint64_t clr_id, std::uint32_t os_id) {
  SlimLock lock(lock_);
  if (destroyed_meanwhile_.contains(clr_id)) return;
  Known& known = threads_[clr_id];
  if (known.os_id != 0) return;
  // The OS thread may have a newer CLR thread by now, known from a callback.
  if (!by_os_id_.try_emplace(os_id, clr_id).second) {
    threads_.erase(clr_id);
    return;
  }
  known.os_id = os_id;
}

void ThreadRegistry::end_enumeration() {
  SlimLock lock(lock_);
  enumerating_ = false;
  destroyed_meanwhile_.clear();
}

std::optional<ThreadRegistry::Entry> ThreadRegistry::claim(std::uint32_t os_id) {
  SlimLock lock(lock_);
  const auto found = by_os_id_.find(os_id);
  if (found == by_os_id_.end()) return std::nullopt;
  Known& known = threads_[found->second];
  ++known.claims;
  return Entry{found->second, known.name};
}

void ThreadRegistry::release(std::uint64_t clr_id) {
  {
    SlimLock lock(lock_);
    --threads_[clr_id].claims;
  }
  WakeAllConditionVariable(&released_);
}

std::string ThreadRegistry::name_of(std::uint32_t os_id) {
  SlimLock lock(lock_);
  const auto found = by_os_id_.find(os_id);
  return found == by_os_id_.end() ? std::string() : threads_[found->second].name;
}

std::vector<std::uint32_t> ThreadRegistry::os_ids() {
  std::vector<std::uint32_t> ids;
  {
    SlimLock lock(lock_);
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
  while (true) {
    if (const auto found = named(prefix)) return found;
    const ULONGLONG now = GetTickCount64();
    if (now >= end) return std::nullopt;
    SleepConditionVariableSRW(&named_, &lock_, static_cast<DWORD>(end - now), 0);
  }
}

}  // namespace mixwalk
