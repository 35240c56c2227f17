#pragma once

#include <windows.h>

#include <functional>

#include "unmanaged/win/own_thread.h"
#include "unmanaged/win/unique_handle.h"
#include "walker/profiler/entry_barrier.h"

namespace mixwalk {

// A thread of this DLL's own, joined when this goes away. Not std::thread: winpthreads' keeps state
// that outlives the DLL. What `work` throws ends at its start: `failed` is called on the same thread
// instead, and must not throw.
//
// join() waits as long as the thread takes, without end where the program has suspended the thread
// for good or holds the loader lock. So only the agent's thread may own one, with nothing frozen,
// claimed or locked: then no thread of the program waits for the agent's thread.
class WorkerThread {
 public:
  WorkerThread() = default;
  WorkerThread(std::function<void()> work, std::function<void(WorkEnd)> failed)
      : work_(std::move(work)), failed_(std::move(failed)) {
    begun_ = UniqueHandle(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    if (begun_) handle_ = start_own_thread(&run, this, &id_);
  }
  ~WorkerThread() { join(); }
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  // False: no thread could be made.
  explicit operator bool() const noexcept { return static_cast<bool>(handle_); }
  // False: no thread could be made, or it does not run yet after that time. A new thread needs the
  // loader lock before its first instruction.
  bool begun_within(DWORD milliseconds) const noexcept {
    return handle_ && WaitForSingleObject(begun_.get(), milliseconds) == WAIT_OBJECT_0;
  }
  DWORD id() const noexcept { return id_; }
  HANDLE handle() const noexcept { return handle_.get(); }
  // Whether it has ended, waited for that long.
  bool has_ended(DWORD milliseconds) const noexcept {
    return !handle_ || WaitForSingleObject(handle_.get(), milliseconds) == WAIT_OBJECT_0;
  }
  void join() noexcept {
    if (!handle_) return;
    WaitForSingleObject(handle_.get(), INFINITE);
    handle_.reset();
  }

 private:
  static DWORD WINAPI run(void* self) noexcept {
    auto& thread = *static_cast<WorkerThread*>(self);
    SetEvent(thread.begun_.get());
    const WorkEnd end = run_guarded(thread.work_);
    if (end != WorkEnd::done) thread.failed_(end);
    return 0;
  }

  std::function<void()> work_;
  std::function<void(WorkEnd)> failed_;
  UniqueHandle begun_, handle_;
  DWORD id_ = 0;
};

}  // namespace mixwalk
