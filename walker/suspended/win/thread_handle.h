#pragma once

#include <windows.h>

#include <cstdint>

#include "unmanaged/win/unique_handle.h"
#include "walker/suspended/thread_control.h"
#include "walker/suspended/win/thread_context.h"

namespace mixwalk {

// A thread of this process, opened to be suspended and read. open() and refusal() are not frozen-safe, all other
// functions are.
class ThreadHandle {
 public:
  // Returns false if the thread has ended, or this process may not open it. If the thread is open already, this does
  // nothing.
  bool open(DWORD thread_id) noexcept;
  HANDLE get() const noexcept { return handle_.get(); }
  DWORD id() const noexcept { return id_; }  // 0 if none is open

  // To be called only while the thread is suspended. Waits until the thread has really stopped.
  ReadContext read_context() const noexcept { return mixwalk::read_context(handle_.get()); }
  StackLimits stack_limits() const noexcept;
  // Asks for the registers of the thread while it runs. Returns the error with which the system refuses them, or 0 if
  // it gives them, or if the thread has ended.
  DWORD refusal() const noexcept;

 private:
  UniqueHandle handle_;
  DWORD id_ = 0;
  std::uint64_t teb_ = 0;
};

}  // namespace mixwalk
