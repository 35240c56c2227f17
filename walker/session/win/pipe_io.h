#pragma once

#include <windows.h>

#include <cstddef>

#include "unmanaged/win/unique_handle.h"

namespace mixwalk {

// The moment at which a wait ends.
class Deadline {
 public:
  explicit Deadline(DWORD milliseconds) noexcept : end_(GetTickCount64() + milliseconds) {}
  DWORD remaining_ms() const noexcept {
    const ULONGLONG now = GetTickCount64();
    return now >= end_ ? 0 : static_cast<DWORD>(end_ - now);
  }

 private:
  ULONGLONG end_;
};

enum class IoResult {
  ok,
  closed,            // the other side closed the pipe, and the process that is watched lives
  exited,            // the watched process has ended
  dll_thread_ended,  // the process lives, but mixwalk.dll's thread in it has ended
  timeout,
  failed,            // GetLastError() says why
};

// A pipe opened for overlapped I/O. One thread reads and writes the pipe. Each call ends at its deadline, or when a
// process ends. After any result except ok the pipe can no longer be used.
class PipeIo {
 public:
  // `process`: its end ends every wait; may be null. Not owned.
  PipeIo(UniqueHandle pipe, HANDLE process) noexcept;

  // When this event is set, every wait ends as well. Not owned.
  void watch_dll_thread(HANDLE dll_thread_ended) noexcept { dll_thread_ended_ = dll_thread_ended; }

  IoResult accept(const Deadline& deadline);  // waits for a client; only for the server's end
  IoResult read(void* into, std::size_t bytes, const Deadline& deadline);
  IoResult write(const void* from, std::size_t bytes, const Deadline& deadline);
  HANDLE handle() const noexcept { return pipe_.get(); }
  // Returns false if the event of this object could not be created, so that every call would fail or wait for ever.
  bool ready() const noexcept { return pipe_ && event_; }

 private:
  IoResult exited_or(IoResult result) const noexcept;
  IoResult complete(BOOL started, DWORD& bytes, const Deadline& deadline);

  UniqueHandle pipe_;
  UniqueHandle event_;
  HANDLE process_;
  HANDLE dll_thread_ended_ = nullptr;
  OVERLAPPED overlapped_{};
};

}  // namespace mixwalk
