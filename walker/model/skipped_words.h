#pragma once

#include <string_view>

#include "unmanaged/enum_texts.h"
#include "walker/suspended/raw_sample.h"

namespace mixwalk {

// Why a thread has no stack (Thread::skipped). Empty if it has one: of a thread that is not on its own stack, the stack
// says so. The reasons differ between mixwalk.dll in the process and a walk from outside.
inline constexpr EnumTexts<CaptureFault::no_room> kSkippedInside{
    "",
    "the thread is ending",
    "",
    "the thread ran again before its stack was copied",
    "mixwalk.dll could not suspend it at that moment",
    "its stack had no more room beside those of other threads"};
inline constexpr EnumTexts<CaptureFault::no_room> kSkippedOutside{
    "",
    "it has ended, or its registers are not known",
    "",
    "the thread ran again before its stack was copied",
    "it could not be suspended at that moment",
    "there was no room for its stack"};

}  // namespace mixwalk
