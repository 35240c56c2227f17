#pragma once

#include <windows.h>

#include "tests/support/win/freeze_trap_page.h"

namespace mixwalk {

// The freeze trap: mixwalk.dll with every slot of its own import table replaced by a thunk. Each import that a thread
// calls while it is in its frozen section is counted, by name, in a FreezeTrapPage. Everything that is linked
// statically (libstdc++, mingw's CRT, winpthread) also uses that import table.
//
// The frozen section of a thread begins when its SuspendThread has returned. It ends when its own ResumeThread has
// returned, or when another thread's ResumeThread (the supervisor's) has really resumed the target: from then on no
// thread is suspended any more, whatever the sampler still does. (The sampler's own Supervisor::end() calls no
// ResumeThread after that.) Sections nest: a sampler may have several threads suspended, and is in its section until
// the last of these threads runs.
//
// The probe's worker, which tries locks while the sampler's target is frozen, is not in a section of its own at that
// time. Calls that the CLR makes internally do not pass through our import table; neither do calls of functions that
// were found by GetProcAddress.
//
// Frozen-safe: imports are called only through mixwalk_trap_originals.

// Returns the record of this process; null if there is none, and so no trap.
FreezeTrapRecord* freeze_trap_record() noexcept;

// Returns the number of the caller's frozen section, which none of its other sections has; 0 if it is in none.
std::uint64_t frozen_section() noexcept;

}  // namespace mixwalk
