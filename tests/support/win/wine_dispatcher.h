#pragma once

#include <cstdint>

namespace mixwalk {

// Whether an address lies in the code through which each system call goes under Wine. That code is part of a Linux
// library, so it has neither an image nor unwind data. It pops its own return address and changes stacks, so a thread
// that is stopped in it has no whole stack. Always false on Windows, where such code is in the kernel.
bool in_wine_dispatcher(std::uint64_t address);

// Whether a place in ntdll.dll is where Wine clears the stack of a thread that it is about to start. Such a thread has
// no frame yet. Clearing takes a good part of a new thread's first millisecond. Always false on Windows.
bool clears_new_stack(std::uint64_t rva);

}  // namespace mixwalk
