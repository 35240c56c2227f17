#pragma once

#include <optional>
#include <string>

#include "walker/session/failure.h"
#include "walker/session/protocol.h"
#include "walker/session/win/pipe_io.h"

namespace mixwalk {

// mixwalk.exe's end of the pipe that its DLL connects to. Its name cannot be guessed, it exists
// once, and only the user who runs mixwalk may open it, from this machine.
class SessionPipe {
 public:
  static Outcome<SessionPipe> create();

  const std::wstring& name() const noexcept { return name_; }

  // From here on the process ends every wait when it ends. Not owned.
  void watch(HANDLE process) noexcept { process_ = process; }

  IoResult accept(const Deadline& deadline);
  // Until there is something to receive, or the pipe is broken, or that long. False: nothing yet.
  bool wait(std::uint32_t milliseconds);
  IoResult send(const Message& message, const Deadline& deadline);
  // `message` is empty where the bytes are none of ours.
  IoResult receive(std::optional<Message>& message, const Deadline& deadline);

 private:
  SessionPipe(std::wstring name, UniqueHandle pipe)
      : name_(std::move(name)), pipe_(std::move(pipe)) {}
  PipeIo& io();

  std::wstring name_;
  UniqueHandle pipe_;
  HANDLE process_ = nullptr;
  std::optional<PipeIo> io_;
};

}  // namespace mixwalk
