#pragma once

#include <windows.h>

#include <string>

#include "unmanaged/win/unique_handle.h"

namespace mixwalk {

// Opens a pipe as its client, for overlapped I/O; mixwalk opens pipes in no other way.
//
// Any process may create a pipe with any name that is still free. So the server may learn who its client is, but must
// not act as its client (SECURITY_IDENTIFICATION). Otherwise any server could use the token of an administrator who
// connects. For the same reason the server must be shown to be the expected process before a byte is written.
struct ClientPipe {
  UniqueHandle handle;    // null if it was not opened, or if another process serves it
  DWORD error = 0;        // why it was not opened, from CreateFile or GetNamedPipeServerProcessId
  ULONG other_server = 0; // the process that serves it instead; 0 if none does
};

// Not frozen-safe. Does not wait, and allocates nothing itself.
ClientPipe open_client_pipe(const wchar_t* name, DWORD server_process_id) noexcept;

}  // namespace mixwalk
