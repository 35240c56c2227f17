#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "walker/model/crash.h"

namespace mixwalk {

// The codes of exceptions that mixwalk treats in a way of their own. (Microsoft Learn, "NTSTATUS values"; ntstatus.h.)
namespace exception_code {
inline constexpr std::uint32_t kAccessViolation = 0xC000'0005, kInPageError = 0xC000'0006,
                               kGuardPage = 0x8000'0001, kFailFast = 0xC000'0409, kManaged = 0xE043'4352,
                               kOldManaged = 0xE043'4F4D, kCpp = 0xE06D'7363, kGnuCpp = 0x2047'4343,
                               kBreakpoint = 0x8000'0003, kSingleStep = 0x8000'0004, kWakeDebugger = 0x8000'0007,
                               kStackOverflow = 0xC000'00FD, kIntegerDivision = 0xC000'0094,
                               kExecutionEngine = 0x8013'1506, kManagedFailFast = 0x8013'1623;
}  // namespace exception_code

// The meaning of an exception's code: "access violation", "unhandled .NET exception". Empty if it is not known.
std::string_view exception_words(std::uint32_t code) noexcept;
// The crash in one line, without its place: "access violation (0xc0000005): it wrote to 0x0, a null pointer". The line
// has no name of the target.
std::string crash_words(const Crash& crash);
// What is known besides, each in one line: Crash::text, and the exception objects ("System.IO.IOException: the disk is
// full", "inner exception: …"). The texts are the target's and may contain anything.
std::vector<std::string> crash_details(const Crash& crash);
// An exception that a thread handles, and its inner exceptions, each in one line: "handles System.IO.IOException: \"the
// disk is full\"", "inner exception: …". The texts are the target's and may contain anything.
std::vector<std::string> handled_words(const HandledException& exception);

}  // namespace mixwalk
