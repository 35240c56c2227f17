#pragma once

#include <windows.h>

#include <string>

#include "unmanaged/win/unique_handle.h"

namespace mixwalk {

// A pipe opened as its client, for overlapped I/O: the only way in which mixwalk opens one.
//
// Any process may make a pipe of any name that is still free. So the server may learn who its client is,
// but must not act as its client (SECURITY_IDENTIFICATION): without that, any server could act with the
// token of an administrator who connects. And the server must be the expected process, before a byte is
// written.
struct ClientPipe {
  UniqueHandle handle;    // null: it was not opened, or is served by another process
  DWORD error = 0;        // why it was not opened: of CreateFile or GetNamedPipeServerProcessId
  ULONG other_server = 0; // the process that serves it instead; 0: none does
};

// Not frozen-safe; does not wait, and allocates nothing itself.
ClientPipe open_client_pipe(const wchar_t* name, DWORD server_process_id) noexcept;

}  // namespace mixwalk
