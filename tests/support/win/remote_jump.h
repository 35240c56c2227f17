#pragma once

#include <windows.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace mixwalk {

// Overwrites code of another process with "jmp [rip + 0]" and the address behind it, as software does that patches
// system calls. Returns false if the process does not allow this.
inline bool write_jump(HANDLE process, const void* at, const void* to) {
  std::array<std::uint8_t, 14> code = {0xFF, 0x25};
  std::memcpy(&code[6], &to, sizeof to);
  DWORD before = 0;
  return VirtualProtectEx(process, const_cast<void*>(at), code.size(), PAGE_EXECUTE_READWRITE, &before) &&
         WriteProcessMemory(process, const_cast<void*>(at), code.data(), code.size(), nullptr);
}

}  // namespace mixwalk
