#pragma once

#include <windows.h>

#include <optional>

#include "unmanaged/win/unique_handle.h"
#include "walker/session/pipe_security.h"

namespace mixwalk {

// The facts by which the system decides whether the process may open a pipe. `process` needs
// PROCESS_QUERY_LIMITED_INFORMATION. Returns nothing if the process's token cannot be read; GetLastError() says why.
std::optional<TokenFacts> token_facts(HANDLE process);

// Switches on SeDebugPrivilege while this object lives, if this process holds that privilege. Administrators do, and
// with it they can open processes and threads of every user. If the privilege was on before, it stays on.
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

// OpenProcess and OpenThread. If access is denied, the call is tried again with SeDebugPrivilege, which is on only for
// that second call. Return null if that fails, too; GetLastError() says why.
UniqueHandle open_process(DWORD access, DWORD process_id) noexcept;
UniqueHandle open_thread(DWORD access, DWORD thread_id) noexcept;

}  // namespace mixwalk
