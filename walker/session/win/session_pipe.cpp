#include "walker/session/win/session_pipe.h"

#include "walker/session/win/message_io.h"

#include <ntsecapi.h>
#include <sddl.h>

#include <vector>

#include "walker/session/win/win_error.h"

namespace mixwalk {
namespace {

constexpr DWORD kPipeBuffer = 64 << 10;

// "D:P(A;;GA;;;S-1-5-…)": this user and nobody else, nothing inherited.
std::wstring own_user_only() {
  HANDLE raw = nullptr;
  if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw)) return {};
  const UniqueHandle token(raw);
  DWORD bytes = 0;
  GetTokenInformation(token.get(), TokenUser, nullptr, 0, &bytes);
  std::vector<std::byte> user(bytes);
  if (!GetTokenInformation(token.get(), TokenUser, user.data(), bytes, &bytes)) return {};
  LPWSTR sid = nullptr;
  if (!ConvertSidToStringSidW(reinterpret_cast<TOKEN_USER*>(user.data())->User.Sid, &sid)) return {};
  std::wstring sddl = std::wstring(L"D:P(A;;GA;;;") + sid + L")";
  LocalFree(sid);
  return sddl;
}

std::wstring random_hex() {
  unsigned char bytes[16] = {};
  RtlGenRandom(bytes, sizeof bytes);
  std::wstring text;
  for (const unsigned char byte : bytes) {
    text += L"0123456789abcdef"[byte >> 4];
    text += L"0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace

Outcome<SessionPipe> SessionPipe::create() {
  const std::wstring sddl = own_user_only();
  SECURITY_ATTRIBUTES security{.nLength = sizeof security};
  if (sddl.empty() ||
      !ConvertStringSecurityDescriptorToSecurityDescriptorW(
          sddl.c_str(), SDDL_REVISION_1, &security.lpSecurityDescriptor, nullptr)) {
    return Failure{ExitCode::internal, "cannot make a pipe for this user only: " + last_error()};
  }
  std::wstring name =
      L"\\\\.\\pipe\\mixwalk-" + std::to_wstring(GetCurrentProcessId()) + L"-" + random_hex();
  UniqueHandle pipe(CreateNamedPipeW(
      name.c_str(), PIPE_ACCESS_DUPLEX | FILE_FLAG_FIRST_PIPE_INSTANCE | FILE_FLAG_OVERLAPPED,
      PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS, 1, kPipeBuffer,
      kPipeBuffer, 0, &security));
  const std::string error = last_error();
  LocalFree(security.lpSecurityDescriptor);
  if (!pipe) return Failure{ExitCode::internal, "cannot make a pipe: " + error};
  return SessionPipe(std::move(name), std::move(pipe));
}

PipeIo& SessionPipe::io() {
  if (!io_) io_.emplace(std::move(pipe_), process_);
  return *io_;
}

IoResult SessionPipe::accept(const Deadline& deadline) { return io().accept(deadline); }

bool SessionPipe::wait(std::uint32_t milliseconds) {
  constexpr DWORD kLookMs = 10;
  const Deadline deadline(milliseconds);
  while (true) {
    DWORD available = 0;
    if (!PeekNamedPipe(io().handle(), nullptr, 0, nullptr, &available, nullptr)) return true;
    if (available != 0) return true;
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
