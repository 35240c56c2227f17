#pragma once

#include <windows.h>

#include <optional>
#include <string_view>

#include "unmanaged/win/unique_handle.h"
#include "walker/session/protocol.h"

namespace mixwalk {

// The DLL's end of the pipe to mixwalk.exe. Blocking; used by the agent thread only, and never
// while anything is frozen. A broken pipe ends every call with failure, at once.
class PipeEnd {
 public:
  // Every pipe of mixwalk begins so; another name is refused.
  static constexpr std::wstring_view kPrefix = L"\\\\.\\pipe\\mixwalk-";

  bool connect(const std::wstring& name);
  bool send(const Message& message);
  // Nothing: the other side has gone, or does not speak our protocol.
  std::optional<Message> receive();
  void close() noexcept { pipe_.reset(); }

 private:
  bool read_exactly(char* into, std::size_t bytes);

  UniqueHandle pipe_;
};

}  // namespace mixwalk
