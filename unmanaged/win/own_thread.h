#pragma once

#include <windows.h>

#include "unmanaged/win/unique_handle.h"

namespace mixwalk {

// The maximum stack of a thread of ours, in bytes; it is committed as it is used.
inline constexpr SIZE_T kOwnStackBytes = 1 << 20;

// Starts a thread of ours in the target. Returns null if no thread could be created.
//
// Situation: a program whose header asks for small stacks (`editbin /STACK:65536`), which CreateThread would also give
// to our threads. Remedy: our threads specify the size that they need.
inline UniqueHandle start_own_thread(LPTHREAD_START_ROUTINE run, void* argument, DWORD* id = nullptr,
                                     SIZE_T stack_bytes = kOwnStackBytes) noexcept {
  return UniqueHandle(CreateThread(nullptr, stack_bytes, run, argument,
                                   STACK_SIZE_PARAM_IS_A_RESERVATION, id));
}

}  // namespace mixwalk
