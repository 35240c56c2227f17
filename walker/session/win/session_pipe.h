#pragma once

#include <optional>
#include <string>

#include "walker/base/failure.h"
#include "walker/session/pipe_security.h"
#include "walker/session/protocol.h"
#include "walker/session/win/pipe_io.h"

namespace mixwalk {

// The server's end of a pipe, for overlapped I/O. The pipe's name cannot be guessed, the pipe has one instance, and
// only the user who runs mixwalk and the target may open it, from this machine.
struct NamedPipe {
  std::wstring name;
  UniqueHandle server;
};
// `target`: the token of the process that will open it; empty if it is a process that mixwalk.exe starts. `buffer`: how
// many bytes the pipe keeps in each direction.
inline constexpr DWORD kPipeBuffer = 64 << 10;
Outcome<NamedPipe> create_pipe(const std::optional<TokenFacts>& target, DWORD buffer = kPipeBuffer);

// mixwalk.exe's end of the pipe to which its DLL connects.
class SessionPipe {
 public:
  // `target`: the process that will load the DLL, as for create_pipe().
  static Outcome<SessionPipe> create(const std::optional<TokenFacts>& target, DWORD buffer = kPipeBuffer);

  const std::wstring& name() const noexcept { return name_; }

  // From here on every wait ends when this process ends, and accept() accepts only this process. The handle is not
  // owned.
  void watch(HANDLE process) noexcept { process_ = process; }
  // Once accept() has succeeded, this event ends every wait as well. Not owned.
  void watch_dll_thread(HANDLE dll_thread_ended) noexcept {
    dll_thread_ended_ = dll_thread_ended;
    io().watch_dll_thread(dll_thread_ended);
  }

  // Waits for the DLL. If another process connects that the descriptor admits, such as a service of the same account,
  // it is disconnected again.
  IoResult accept(const Deadline& deadline);
  // The last process that accept() disconnected; 0 if none.
  std::uint32_t rejected_client() const noexcept { return rejected_client_; }
  // Waits until a message can be received, until none can come any more, or for that time. Returns false if the time
  // has passed.
  bool wait(std::uint32_t milliseconds);
  IoResult send(const Message& message, const Deadline& deadline);
  // `message` is empty if the bytes are not one of our messages.
  IoResult receive(std::optional<Message>& message, const Deadline& deadline);

 private:
  SessionPipe(std::wstring name, UniqueHandle pipe)
      : name_(std::move(name)), pipe_(std::move(pipe)) {}
  PipeIo& io();
  // The process id of the client; 0 if it is not known.
  std::uint32_t client();

  std::wstring name_;
  UniqueHandle pipe_;
  HANDLE process_ = nullptr;
  HANDLE dll_thread_ended_ = nullptr;
  std::uint32_t rejected_client_ = 0;
  std::optional<PipeIo> io_;
};

}  // namespace mixwalk
