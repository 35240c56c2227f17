#include "walker/profiler/thread_registry.h"

#include "walker/profiler/slim_lock.h"

namespace mixwalk {

void ThreadRegistry::assigned(std::uint64_t clr_id, std::uint32_t os_id) {
  SlimLock lock(lock_);
  Known& known = threads_[clr_id];
  if (known.os_id != 0) by_os_id_.erase(known.os_id);
  known.os_id = os_id;
  by_os_id_[os_id] = clr_id;
}

void ThreadRegistry::renamed(std::uint64_t clr_id, std::string name) {
  SlimLock lock(lock_);
  threads_[clr_id].name = std::move(name);
}

void ThreadRegistry::destroyed(std::uint64_t clr_id) {
  SlimLock lock(lock_);
  while (claimed_ == clr_id) SleepConditionVariableSRW(&released_, &lock_, INFINITE, 0);
  if (enumerating_) destroyed_meanwhile_.insert(clr_id);
  const auto found = threads_.find(clr_id);
  if (found == threads_.end()) return;
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
  claimed_ = found->second;
  return Entry{found->second, threads_[found->second].name};
}

void ThreadRegistry::release() {
  {
    SlimLock lock(lock_);
    claimed_ = 0;
  }
  WakeAllConditionVariable(&released_);
}

}  // namespace mixwalk
