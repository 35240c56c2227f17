#include "walker/session/win/session_pipe.h"

#include "walker/session/win/message_io.h"

#include <ntsecapi.h>

#include "unmanaged/win/utf8.h"
#include "walker/session/pipe_name.h"
#include "walker/session/win/security_descriptor.h"
#include "walker/session/win/token.h"
#include "walker/session/win/win_error.h"

namespace mixwalk {
namespace {


}  // namespace

Outcome<NamedPipe> create_pipe(const std::optional<TokenFacts>& target, DWORD buffer) {
  const auto own = token_facts(GetCurrentProcess());
  const SecurityDescriptor descriptor =
      own ? make_security_descriptor(pipe_sddl(own->user, target ? *target : *own)) : nullptr;
  if (!descriptor) {
    return Failure{ExitCode::internal,
                   "cannot make a pipe for the target and this user only: " + last_error()};
  }
  SECURITY_ATTRIBUTES security{sizeof security, descriptor.get(), FALSE};
  unsigned char random[kPipeRandomBytes] = {};
  RtlGenRandom(random, sizeof random);
  std::wstring name = session_pipe_name(GetCurrentProcessId(), random);
  UniqueHandle pipe(CreateNamedPipeW(
      name.c_str(), PIPE_ACCESS_DUPLEX | FILE_FLAG_FIRST_PIPE_INSTANCE | FILE_FLAG_OVERLAPPED,
      PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS, 1, buffer, buffer, 0,
      &security));
  if (!pipe) return Failure{ExitCode::internal, "cannot make a pipe: " + last_error()};
  return NamedPipe{std::move(name), std::move(pipe)};
}

Outcome<SessionPipe> SessionPipe::create(const std::optional<TokenFacts>& target, DWORD buffer) {
  Outcome<NamedPipe> pipe = create_pipe(target, buffer);
  if (!pipe) return pipe.failure();
  return SessionPipe(std::move(pipe->name), std::move(pipe->server));
}

PipeIo& SessionPipe::io() {
  if (!io_) io_.emplace(std::move(pipe_), process_);
  return *io_;
}

std::uint32_t SessionPipe::client() {
  ULONG client = 0;
  return GetNamedPipeClientProcessId(io().handle(), &client) ? client : 0;
}

IoResult SessionPipe::accept(const Deadline& deadline) {
  while (true) {
    const IoResult result = io().accept(deadline);
    // The result is `closed` if a client connected and has already disconnected.
    if (result != IoResult::ok && result != IoResult::closed) return result;
    const std::uint32_t client_id = client();
    if (client_id == GetProcessId(process_)) return result;
    rejected_client_ = client_id;
    DisconnectNamedPipe(io().handle());
    if (deadline.remaining_ms() == 0) return IoResult::timeout;
  }
}

bool SessionPipe::wait(std::uint32_t milliseconds) {
  constexpr DWORD kLookMs = 10;
  const Deadline deadline(milliseconds);
  while (true) {
    DWORD available = 0;
    if (!PeekNamedPipe(io().handle(), nullptr, 0, nullptr, &available, nullptr)) return true;
    if (available != 0) return true;
    if (dll_thread_ended_ != nullptr && WaitForSingleObject(dll_thread_ended_, 0) == WAIT_OBJECT_0) return true;
    const DWORD left = deadline.remaining_ms();
    if (left == 0) return false;
    Sleep(left < kLookMs ? left : kLookMs);
  }
}

IoResult SessionPipe::send(const Message& message, const Deadline& deadline) {
  return send_message(io(), message, deadline);
}

IoResult SessionPipe::receive(std::optional<Message>& message, const Deadline& deadline) {
  return receive_message(io(), message, deadline);
}

}  // namespace mixwalk
