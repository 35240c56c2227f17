#include "walker/profiler/pipe_end.h"

#include "walker/session/win/message_io.h"

namespace mixwalk {
namespace {

// mixwalk.exe may take its time: it ends, or it reads.
Deadline never() { return Deadline(INFINITE); }

}  // namespace

bool PipeEnd::connect(const std::wstring& name) {
  if (!name.starts_with(kPrefix)) return false;
  // The server may know who we are, and must not act as us.
  constexpr DWORD kFlags = SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION | FILE_FLAG_OVERLAPPED;
  UniqueHandle pipe(CreateFileW(name.c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr,
                                OPEN_EXISTING, kFlags, nullptr));
  HANDLE second = nullptr;
  if (!pipe || !DuplicateHandle(GetCurrentProcess(), pipe.get(), GetCurrentProcess(), &second, 0,
                                FALSE, DUPLICATE_SAME_ACCESS)) {
    return false;
  }
  in_.emplace(std::move(pipe), nullptr);
  out_.emplace(UniqueHandle(second), nullptr);
  return true;
}

bool PipeEnd::send(const Message& message) {
  return out_ && send_message(*out_, message, never()) == IoResult::ok;
}

std::optional<Message> PipeEnd::receive() {
  std::optional<Message> message;
  if (in_) receive_message(*in_, message, never());
  return message;
}

}  // namespace mixwalk
