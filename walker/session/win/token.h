#pragma once

#include <windows.h>

#include <optional>

#include "unmanaged/win/unique_handle.h"
#include "walker/session/pipe_security.h"

namespace mixwalk {

// What decides whether the process may open a pipe. `process` needs PROCESS_QUERY_LIMITED_INFORMATION.
// Nothing: its token cannot be read, GetLastError() says why.
std::optional<TokenFacts> token_facts(HANDLE process);

// SeDebugPrivilege, switched on as long as this lives, where this process holds it: administrators
// do, and it opens processes and threads of every user. If it was on before, it stays on.
class DebugPrivilege {
 public:
  DebugPrivilege() noexcept;
  ~DebugPrivilege();
  DebugPrivilege(const DebugPrivilege&) = delete;
  DebugPrivilege& operator=(const DebugPrivilege&) = delete;

  bool held() const noexcept { return held_; }

 private:
  UniqueHandle token_;
  TOKEN_PRIVILEGES before_{};
  bool held_ = false;
};

// OpenProcess, OpenThread: where access is denied a second time with SeDebugPrivilege, which is on for
// that call alone. Null: GetLastError() says why.
UniqueHandle open_process(DWORD access, DWORD process_id) noexcept;
UniqueHandle open_thread(DWORD access, DWORD thread_id) noexcept;

}  // namespace mixwalk
