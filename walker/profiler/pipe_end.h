#pragma once

#include <windows.h>

#include <optional>
#include <string>

#include "walker/session/protocol.h"
#include "walker/session/win/pipe_io.h"

namespace mixwalk {

// The DLL's end of the pipe to mixwalk.exe. Never used while anything is frozen. One thread may send while another one
// receives. If the pipe breaks, every call fails at once.
class PipeEnd {
 public:
  // Returns false if the name is not one of mixwalk's, or if the pipe is not served by the process in the name.
  bool connect(const std::wstring& name);
  bool send(const Message& message);
  // Sends the last message of a visit that failed. Allocates nothing, and waits for the reader only for a short time.
  void send_failed(VisitFailed::Why why) noexcept;
  // Ends another thread's wait in receive() or send(). To be called again until that thread has
  // returned, since it may not have begun to wait yet.
  void cancel_receive() noexcept { cancel(in_); }
  void cancel_send() noexcept { cancel(out_); }
  // Returns nothing if the other side has ended, or does not speak our protocol.
  std::optional<Message> receive();
  void close() noexcept { in_.reset(), out_.reset(); }

 private:
  static void cancel(const std::optional<PipeIo>& io) noexcept {
    if (io) CancelIoEx(io->handle(), nullptr);
  }

  std::optional<PipeIo> in_, out_;  // the same pipe twice, because each has its own pending operation
};

}  // namespace mixwalk
