#pragma once

#include <windows.h>

#include <functional>
#include <memory>
#include <utility>

#include "unmanaged/win/own_thread.h"
#include "unmanaged/win/unique_handle.h"
#include "walker/profiler/entry_barrier.h"

namespace mixwalk {

// A thread of this DLL's own; the destructor joins it. It is not std::thread, because winpthreads' thread keeps state
// that outlives the DLL. If `work` throws, the thread's start function catches the exception and calls `failed` on the
// same thread. `failed` must not throw.
//
// join() waits for the thread without a limit. That is for ever if the program has suspended the thread for good or
// holds the loader lock. So only the agent's thread may own a WorkerThread, and may join it only with nothing frozen,
// claimed or locked, so that no thread of the program waits for the agent's thread.
class WorkerThread {
 public:
  WorkerThread() = default;
  WorkerThread(std::function<void()> work, std::function<void(WorkEnd)> failed)
      : task_(std::make_unique<Task>(std::move(work), std::move(failed))) {
    if (task_->begun) handle_ = start_own_thread(&run, task_.get(), &id_);
  }
  ~WorkerThread() { join(); }
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  // Returns false if no thread could be created.
  explicit operator bool() const noexcept { return static_cast<bool>(handle_); }
  // Returns false if no thread could be created, or if the thread does not run yet after that time. A new thread needs
  // the loader lock before its first instruction.
  bool begun_within(DWORD milliseconds) const noexcept {
    return handle_ && WaitForSingleObject(task_->begun.get(), milliseconds) == WAIT_OBJECT_0;
  }
  DWORD id() const noexcept { return id_; }
  HANDLE handle() const noexcept { return handle_.get(); }
  // Whether the thread has ended. Waits that long for its end.
  bool has_ended(DWORD milliseconds) const noexcept {
    return !handle_ || WaitForSingleObject(handle_.get(), milliseconds) == WAIT_OBJECT_0;
  }
  void join() noexcept {
    if (!handle_) return;
    WaitForSingleObject(handle_.get(), INFINITE);
    handle_.reset();
  }

 private:
  // On the heap, because the thread may outlive its owner's stack (Agent::with_sampler).
  struct Task {
    Task(std::function<void()> to_do, std::function<void(WorkEnd)> at_failure)
        : work(std::move(to_do)), failed(std::move(at_failure)) {}
    std::function<void()> work;
    std::function<void(WorkEnd)> failed;
    UniqueHandle begun{CreateEventW(nullptr, TRUE, FALSE, nullptr)};
  };

  static DWORD WINAPI run(void* task) noexcept {
    auto& own = *static_cast<Task*>(task);
    SetEvent(own.begun.get());
    const WorkEnd end = run_guarded(own.work);
    if (end != WorkEnd::done) own.failed(end);
    return 0;
  }

  std::unique_ptr<Task> task_;
  UniqueHandle handle_;
  DWORD id_ = 0;
};

}  // namespace mixwalk
