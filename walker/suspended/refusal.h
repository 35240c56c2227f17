#pragma once

#include <cstdint>

namespace mixwalk {

// The reasons why the CLR was not asked to walk a thread. The same field may hold the result of DoStackSnapshot (an
// HRESULT).
//
// The runtime has detached the thread; DoStackSnapshot would end the process with exactly this code
// (CORPROF_E_STACKSNAPSHOT_INVALID_TGT_THREAD).
inline constexpr std::uint32_t kThreadDetached = 0x8013'135E;
// The thread was already suspended, by the program, a debugger or the CLR. The code is our own, so the customer bit is
// set.
inline constexpr std::uint32_t kThreadSuspended = 0xA004'0001;

}  // namespace mixwalk
