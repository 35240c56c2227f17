#pragma once

#include <windows.h>

#include "tests/support/win/freeze_trap_page.h"

namespace mixwalk {

// The freeze trap: mixwalk.dll with every slot of its own import table replaced by a thunk. What a thread imports while
// it is in its frozen section is counted, by name, in a FreezeTrapPage. Everything that is linked statically
// (libstdc++, mingw's CRT, winpthread) goes through that table, too.
//
// The frozen section of a thread begins when its SuspendThread has returned. It ends when its own ResumeThread has
// returned, or when another thread's ResumeThread (the supervisor's) has really resumed the target: then no thread is
// suspended any more, whatever the sampler still does. (The sampler's own Supervisor::end() calls no ResumeThread after
// that.) Sections nest: a sampler may have several threads suspended, and is in its section until the last of them
// runs.
//
// The probe's worker, which tries locks while the sampler's target is frozen, is in no section of its own then. What
// the CLR does inside its own calls does not pass through our import table; neither do functions that were found by
// GetProcAddress.
//
// Frozen-safe, all of it: nothing is imported except through mixwalk_trap_originals.

// The record of this process; null: there is none, and no trap.
FreezeTrapRecord* freeze_trap_record() noexcept;

// The caller's frozen section: a number that no other of its sections has; 0: it is in none.
std::uint64_t frozen_section() noexcept;

}  // namespace mixwalk
