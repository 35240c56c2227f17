#include "walker/session/win/client_pipe.h"

namespace mixwalk {

ClientPipe open_client_pipe(const wchar_t* name, DWORD server_process_id) noexcept {
  constexpr DWORD kFlags = SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION | FILE_FLAG_OVERLAPPED;
  UniqueHandle handle(
      CreateFileW(name, GENERIC_READ | GENERIC_WRITE, 0, nullptr, OPEN_EXISTING, kFlags, nullptr));
  if (!handle) return {{}, GetLastError(), 0};
  ULONG server = 0;
  if (!GetNamedPipeServerProcessId(handle.get(), &server)) return {{}, GetLastError(), 0};
  if (server != server_process_id) return {{}, 0, server};
  return {std::move(handle), 0, 0};
}

}  // namespace mixwalk
