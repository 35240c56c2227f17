#include "walker/session/win/pipe_io.h"

#include <algorithm>

namespace mixwalk {
namespace {

constexpr std::size_t kMaxChunk = 1 << 20;
// When a process ends, its pipes break shortly before its handle is signalled.
constexpr DWORD kEndMs = 1000;

IoResult result_of(DWORD error) noexcept {
  switch (error) {
    case ERROR_BROKEN_PIPE:
    case ERROR_HANDLE_EOF:
    case ERROR_NO_DATA:
    case ERROR_PIPE_NOT_CONNECTED: return IoResult::closed;
    default: return IoResult::failed;
  }
}

}  // namespace

PipeIo::PipeIo(UniqueHandle pipe, HANDLE process) noexcept
    : pipe_(std::move(pipe)),
      event_(CreateEventW(nullptr, TRUE, FALSE, nullptr)),
      process_(process) {}

IoResult PipeIo::exited_or(IoResult result) const noexcept {
  const bool exited = result == IoResult::closed && process_ != nullptr &&
                      WaitForSingleObject(process_, kEndMs) == WAIT_OBJECT_0;
  return exited ? IoResult::exited : result;
}

IoResult PipeIo::complete(BOOL started, DWORD& bytes, const Deadline& deadline) {
  if (!started) {
    const DWORD error = GetLastError();
    if (error == ERROR_PIPE_CONNECTED) return IoResult::ok;
    if (error != ERROR_IO_PENDING) return exited_or(result_of(error));
  }
  const HANDLE handles[] = {event_.get(), process_, dll_thread_ended_};
  const DWORD count = process_ == nullptr ? 1 : dll_thread_ended_ == nullptr ? 2 : 3;
  const DWORD waited = WaitForMultipleObjects(count, handles, FALSE, deadline.remaining_ms());
  if (waited != WAIT_OBJECT_0) {
    // The buffer must not be written after this function has returned.
    CancelIoEx(pipe_.get(), &overlapped_);
    if (!GetOverlappedResult(pipe_.get(), &overlapped_, &bytes, TRUE)) {
      return waited == WAIT_OBJECT_0 + 1   ? IoResult::exited
             : waited == WAIT_OBJECT_0 + 2 ? IoResult::dll_thread_ended
                                           : IoResult::timeout;
    }
    return IoResult::ok;  // the operation completed in between
  }
  if (!GetOverlappedResult(pipe_.get(), &overlapped_, &bytes, FALSE)) {
    return exited_or(result_of(GetLastError()));
  }
  return IoResult::ok;
}

IoResult PipeIo::accept(const Deadline& deadline) {
  overlapped_ = {.hEvent = event_.get()};
  DWORD bytes = 0;
  return complete(ConnectNamedPipe(pipe_.get(), &overlapped_), bytes, deadline);
}

IoResult PipeIo::read(void* into, std::size_t bytes, const Deadline& deadline) {
  auto* at = static_cast<char*>(into);
  while (bytes != 0) {
    overlapped_ = {.hEvent = event_.get()};
    const auto chunk = static_cast<DWORD>(std::min(bytes, kMaxChunk));
    DWORD read = 0;
    const IoResult result =
        complete(ReadFile(pipe_.get(), at, chunk, nullptr, &overlapped_), read, deadline);
    if (result != IoResult::ok) return result;
    if (read == 0) return exited_or(IoResult::closed);
    at += read;
    bytes -= read;
  }
  return IoResult::ok;
}

IoResult PipeIo::write(const void* from, std::size_t bytes, const Deadline& deadline) {
  const auto* at = static_cast<const char*>(from);
  while (bytes != 0) {
    overlapped_ = {.hEvent = event_.get()};
    const auto chunk = static_cast<DWORD>(std::min(bytes, kMaxChunk));
    DWORD written = 0;
    const IoResult result =
        complete(WriteFile(pipe_.get(), at, chunk, nullptr, &overlapped_), written, deadline);
    if (result != IoResult::ok) return result;
    at += written;
    bytes -= written;
  }
  return IoResult::ok;
}

}  // namespace mixwalk
