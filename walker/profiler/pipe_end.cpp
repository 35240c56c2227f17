#include "walker/profiler/pipe_end.h"

#include "walker/session/pipe_name.h"
#include "walker/session/win/client_pipe.h"
#include "walker/session/win/message_io.h"

namespace mixwalk {
namespace {

// There is no time limit for mixwalk.exe, because it either reads or ends.
Deadline never() { return Deadline(INFINITE); }

// The pipe may be busy: another process may be connected, until mixwalk.exe disconnects it.
UniqueHandle open(const std::wstring& name, std::uint32_t server) {
  constexpr DWORD kBusyMs = 10'000, kLookMs = 20;
  const Deadline deadline(kBusyMs);
  while (true) {
    ClientPipe opened = open_client_pipe(name.c_str(), server);
    if (opened.handle || opened.error != ERROR_PIPE_BUSY || deadline.remaining_ms() == 0) {
      return std::move(opened.handle);
    }
    Sleep(kLookMs);
  }
}

}  // namespace

bool PipeEnd::connect(const std::wstring& name) {
  const auto server = server_of_session_pipe(name);
  if (!server) return false;
  UniqueHandle pipe = open(name, *server);
  HANDLE second = nullptr;
  if (!pipe || !DuplicateHandle(GetCurrentProcess(), pipe.get(), GetCurrentProcess(), &second, 0,
                                FALSE, DUPLICATE_SAME_ACCESS)) {
    return false;
  }
  in_.emplace(std::move(pipe), nullptr);
  out_.emplace(UniqueHandle(second), nullptr);
  if (in_->ready() && out_->ready()) return true;
  close();
  return false;
}

bool PipeEnd::send(const Message& message) {
  return out_ && send_message(*out_, message, never()) == IoResult::ok;
}

void PipeEnd::send_failed(VisitFailed::Why why) noexcept {
  constexpr DWORD kLastWordMs = 1000;
  const auto bytes = encode_failed(why);
  if (out_) out_->write(bytes.data(), bytes.size(), Deadline(kLastWordMs));
}

std::optional<Message> PipeEnd::receive() {
  std::optional<Message> message;
  if (in_) receive_message(*in_, message, never());
  return message;
}

}  // namespace mixwalk
