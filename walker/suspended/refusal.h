#pragma once

#include <cstdint>

namespace mixwalk {

// Why the CLR was not asked to walk a thread; beside these stands what DoStackSnapshot said
// (an HRESULT).
//
// The thread is detached: the runtime has let go of it, and DoStackSnapshot would end the process
// with this very code (CORPROF_E_STACKSNAPSHOT_INVALID_TGT_THREAD).
inline constexpr std::uint32_t kThreadLetGo = 0x8013'135E;
// The thread was suspended already, by the program, a debugger or the CLR. A code of our own: the
// customer bit is set.
inline constexpr std::uint32_t kThreadSuspended = 0xA004'0001;

}  // namespace mixwalk
