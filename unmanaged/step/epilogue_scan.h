#pragma once

#include <cstdint>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// Returns whether an unwinder that looks for an epilogue at `ip` terminates. Such an unwinder skips pops, and follows
// jumps that stay within [begin, end). Frozen-safe.
//
// Folklore: Wine 8's RtlVirtualUnwind follows such jumps without a limit. Situation: a thread in native or jitted `for
// (;;);`, which is a jump to itself. Remedy: such a place is not passed to the system's unwinder; it is in no epilogue.
// Test: lost_frames_test.
bool epilogue_scan_ends(const MemoryReader& code, std::uint64_t ip, std::uint64_t begin,
                        std::uint64_t end) noexcept;

}  // namespace mixwalk
