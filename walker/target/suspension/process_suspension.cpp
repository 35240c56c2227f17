#include "walker/target/suspension/process_suspension.h"

#include <algorithm>

#include "unmanaged/win/thread_information.h"
#include "walker/session/win/thread_list.h"
#include "walker/session/win/token.h"

namespace mixwalk {
namespace {

// A thread that still runs may start other threads between the listing of the threads and their suspension. So the
// threads are listed again until no new one is found. If other processes add threads without end, this stops after
// kMaxLooks listings.
constexpr int kMaxLooks = 100;
constexpr std::size_t kMoreThreads = 256;  // room that is added at once

}  // namespace

ProcessSuspension::ProcessSuspension(std::uint32_t process_id) : begun_ns_(clock_.now_ns()) {
  try {
    for (int look = 0; look < kMaxLooks && suspend_new_threads(process_id); ++look) {
    }
  } catch (...) {  // no memory; suspended threads must not stay suspended
    end();
    throw;
  }
}

bool ProcessSuspension::suspend_new_threads(std::uint32_t process_id) {
  bool found = false;
  for (const std::uint32_t id : list_threads(process_id).value_or(std::vector<std::uint32_t>())) {
    const auto place = std::ranges::lower_bound(threads_, id, {}, &Suspended::id);
    if (place != threads_.end() && place->id == id) continue;
    UniqueHandle thread = open_thread(THREAD_SUSPEND_RESUME | THREAD_QUERY_INFORMATION, id);
    if (!thread) continue;
    // Since the thread was listed, its id may have been given to a thread of another process.
    const auto info = thread_information(thread.get());
    if (!info || info->process_id != process_id) continue;
    const auto at = place - threads_.begin();
    if (threads_.size() == threads_.capacity()) threads_.reserve(threads_.size() + kMoreThreads);  // before it stands
    SuspensionEntry entry;
    entry.begin(id);
    const DWORD before = SuspendThread(thread.get());
    if (before == static_cast<DWORD>(-1)) {
      entry.end();
      continue;
    }
    entry.set_suspended(before);
    threads_.insert(threads_.begin() + at, {id, std::move(thread), entry});
    found = true;
  }
  return found;
}

bool ProcessSuspension::end() noexcept {
  const std::lock_guard lock(mutex_);
  for (Suspended& thread : threads_) {
    if (!ended_) {
      thread.entry.resumes();
      ResumeThread(thread.handle.get());
    }
    if (!writing_) thread.entry.end();
  }
  if (ended_) return false;
  frozen_ns_ = clock_.now_ns() - begun_ns_;
  ended_ = true;
  return true;
}

bool ProcessSuspension::begin_writing() noexcept {
  const std::lock_guard lock(mutex_);
  if (ended_) return false;
  for (Suspended& thread : threads_) {
    const auto count = suspend_count(thread.handle.get());
    if (count && *count != 0) thread.entry.lower_count(*count - 1);
  }
  writing_ = true;
  set_writer_at_work(true);
  return true;
}

void ProcessSuspension::end_writing() noexcept {
  const std::lock_guard lock(mutex_);
  writing_ = false;
  set_writer_at_work(false);
  if (!ended_) return;
  for (Suspended& thread : threads_) thread.entry.end();
}

SuspensionLimit::SuspensionLimit(ProcessSuspension& suspension, DWORD milliseconds) noexcept {
  const auto end = [](void* of, BOOLEAN) { static_cast<ProcessSuspension*>(of)->end(); };
  if (!CreateTimerQueueTimer(&timer_, nullptr, end, &suspension, milliseconds, 0, WT_EXECUTEONLYONCE)) timer_ = nullptr;
}

SuspensionLimit::~SuspensionLimit() {
  if (timer_ != nullptr) DeleteTimerQueueTimer(nullptr, timer_, INVALID_HANDLE_VALUE);
}

}  // namespace mixwalk
