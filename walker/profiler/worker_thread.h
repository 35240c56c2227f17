#pragma once

#include <windows.h>

#include <functional>

#include "unmanaged/win/unique_handle.h"

namespace mixwalk {

// A thread of this DLL's own, joined when this goes away. Not std::thread: winpthreads' keeps state
// that outlives the DLL.
class WorkerThread {
 public:
  WorkerThread() = default;
  explicit WorkerThread(std::function<void()> work) : work_(std::move(work)) {
    handle_ = UniqueHandle(CreateThread(nullptr, 0, &run, this, 0, &id_));
  }
  ~WorkerThread() { join(); }
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  // False: no thread could be made.
  explicit operator bool() const noexcept { return static_cast<bool>(handle_); }
  DWORD id() const noexcept { return id_; }
  void join() noexcept {
    if (!handle_) return;
    WaitForSingleObject(handle_.get(), INFINITE);
    handle_.reset();
  }

 private:
  static DWORD WINAPI run(void* self) {
    static_cast<WorkerThread*>(self)->work_();
    return 0;
  }

  std::function<void()> work_;
  UniqueHandle handle_;
  DWORD id_ = 0;
};

}  // namespace mixwalk
