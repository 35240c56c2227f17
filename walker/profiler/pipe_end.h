#pragma once

#include <windows.h>

#include <optional>
#include <string_view>

#include "walker/session/protocol.h"
#include "walker/session/win/pipe_io.h"

namespace mixwalk {

// The DLL's end of the pipe to mixwalk.exe. Never used while anything is frozen. One thread may send
// while another one receives. A broken pipe ends every call with failure, at once.
class PipeEnd {
 public:
  // Every pipe of mixwalk begins so; another name is refused.
  static constexpr std::wstring_view kPrefix = L"\\\\.\\pipe\\mixwalk-";

  bool connect(const std::wstring& name);
  bool send(const Message& message);
  // Nothing: the other side has gone, or does not speak our protocol.
  std::optional<Message> receive();
  void close() noexcept { in_.reset(), out_.reset(); }

 private:
  std::optional<PipeIo> in_, out_;  // the same pipe: each has its own pending operation
};

}  // namespace mixwalk
