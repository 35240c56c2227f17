#include "walker/model/crash_words.h"

#include <algorithm>
#include <utility>

#include "unmanaged/enum_texts.h"
#include "unmanaged/hex.h"

namespace mixwalk {
namespace {

struct Words {
  std::uint32_t code;
  std::string_view words;
};

std::string_view words_for(std::uint32_t code, const auto& table) noexcept {
  const auto found = std::ranges::find(table, code, &Words::code);
  return found == std::end(table) ? std::string_view() : found->words;
}

// (Microsoft Learn, "NTSTATUS values" and "GetExceptionCode macro".)
constexpr Words kCodes[] = {
    {exception_code::kAccessViolation, "access violation"},
    {exception_code::kInPageError, "a page could not be read"},
    {exception_code::kGuardPage, "a guard page was touched"},
    {exception_code::kFailFast, "fail fast"},
    {exception_code::kManaged, "unhandled .NET exception"},
    {exception_code::kOldManaged, "unhandled exception of .NET Framework 3.5 or older"},
    {exception_code::kCpp, "unhandled C++ exception"},
    {exception_code::kGnuCpp, "unhandled C++ exception"},
    {exception_code::kBreakpoint, "breakpoint"},
    {exception_code::kSingleStep, "single step"},
    {exception_code::kWakeDebugger, "a debugger was woken"},
    {0x8000'0002, "misaligned data"},
    {0x8000'0029, "long jump"},
    {0xC000'0008, "invalid handle"},
    {0xC000'000D, "invalid parameter"},
    {0xC000'0017, "no memory"},
    {0xC000'001D, "illegal instruction"},
    {0xC000'0025, "an exception handler went on after an exception that cannot be continued"},
    {0xC000'0026, "an exception handler is not valid"},
    {0xC000'008C, "array index out of bounds"},
    {0xC000'008D, "floating-point operand is denormal"},
    {0xC000'008E, "floating-point division by zero"},
    {0xC000'008F, "floating-point result is inexact"},
    {0xC000'0090, "invalid floating-point operation"},
    {0xC000'0091, "floating-point overflow"},
    {0xC000'0092, "floating-point stack check"},
    {0xC000'0093, "floating-point underflow"},
    {exception_code::kIntegerDivision, "integer division by zero"},
    {0xC000'0095, "integer overflow"},
    {0xC000'0096, "privileged instruction"},
    {exception_code::kStackOverflow, "stack overflow"},
    {0xC000'0135, "a DLL was not found"},
    {0xC000'0139, "a DLL lacks an entry point"},
    {0xC000'0142, "a DLL could not be initialised"},
    {0xC000'0194, "possible deadlock"},
    {0xC000'0374, "heap corruption"},
    {0xC000'0417, "a C runtime function got an invalid parameter"},
    {0xC000'041D, "an exception left a callback of the system"},
    {0xC000'0420, "an assertion failed"},
    {0xC000'0602, "fail fast"},
    {0xC06D'007E, "a delay-loaded DLL was not found"},
    {0xC06D'007F, "a delay-loaded DLL lacks a function"},
    {exception_code::kExecutionEngine, "internal error of the .NET runtime"},
    {exception_code::kManagedFailFast, "Environment.FailFast"},
};

// FAST_FAIL_* (winnt.h; Microsoft Learn, "__fastfail").
constexpr Words kFailFasts[] = {
    {0, "a buffer on the stack was overrun"},
    {1, "the check of a virtual function table failed"},
    {2, "a buffer on the stack was overrun"},
    {3, "a list is corrupt"},
    {4, "the stack pointer is not in the stack"},
    {5, "an argument is not valid"},
    {6, "a stack cookie was not initialised"},
    {7, "the program has called abort or std::terminate"},
    {8, "an index is out of its range"},
    {10, "Control Flow Guard refused a call"},
};

// HRESULTs of managed exceptions (Microsoft Learn, "HRESULTs and exceptions" of .NET). Two types may have the same.
constexpr Words kManagedKinds[] = {
    {0x8000'4001, "NotImplementedException"},
    {0x8000'4002, "InvalidCastException"},
    {0x8000'4003, "NullReferenceException or ArgumentNullException"},
    {0x8002'0012, "DivideByZeroException"},
    {0x8007'0005, "UnauthorizedAccessException"},
    {0x8007'000E, "OutOfMemoryException"},
    {0x8007'0057, "ArgumentException"},
    {0x8013'1500, "Exception"},
    {0x8013'1502, "ArgumentOutOfRangeException"},
    {0x8013'1505, "TimeoutException"},
    {0x8013'1508, "IndexOutOfRangeException"},
    {0x8013'1509, "InvalidOperationException"},
    {0x8013'1515, "NotSupportedException"},
    {0x8013'1523, "EntryPointNotFoundException"},
    {0x8013'1524, "DllNotFoundException"},
    {0x8013'1534, "TypeInitializationException"},
    {0x8013'1537, "FormatException"},
    {0x8013'1577, "KeyNotFoundException"},
    {0x8013'1620, "IOException"},
    {0x8013'1622, "ObjectDisposedException"},
};

constexpr EnumTexts<kLastCrashAccess> kAccessWords{"", "it read", "it wrote to", "it executed"};

std::string touched_words(const Crash& crash) {
  if (crash.access == CrashAccess::none) return {};
  std::string text = ": " + std::string(kAccessWords.of(crash.access, "it touched")) + " ";
  // Folklore: for an address that is not canonical, an x64 processor does not report the address. Windows then records
  // a read of an address whose bits are all set.
  if (crash.touched == ~std::uint64_t{0}) return ": it touched an address that the processor did not report";
  text += hex(crash.touched);
  constexpr std::uint64_t kNearNull = 0x1'0000;  // the system gives no process the first 64 KiB
  if (crash.touched == 0) return text + ", a null pointer";
  return crash.touched < kNearNull ? text + ", next to a null pointer" : text;
}

constexpr const char* kInner = "inner exception: ";

std::string type_words(const CrashObject& object) {
  return object.type.empty() ? "an exception of an unknown type" : object.type;
}

}  // namespace

std::string_view exception_words(std::uint32_t code) noexcept { return words_for(code, kCodes); }

std::string crash_words(const Crash& crash) {
  const std::string_view known = exception_words(crash.code);
  std::string text = known.empty() ? "exception " + hex(crash.code)
                                   : std::string(known) + " (" + hex(crash.code) + ")";
  text += touched_words(crash);
  if (crash.code == exception_code::kFailFast) {
    const std::string_view why = words_for(crash.detail, kFailFasts);
    text += why.empty() ? ": reason " + std::to_string(crash.detail) : ": " + std::string(why);
  } else if (crash.code == exception_code::kInPageError && crash.detail != 0) {
    text += " (status " + hex(crash.detail) + ")";
  } else if (crash.code == exception_code::kManaged && crash.objects.empty() && crash.detail != 0) {
    const std::string_view kind = words_for(crash.detail, kManagedKinds);
    text += ": HRESULT " + hex(crash.detail);
    if (!kind.empty()) text += ", as of " + std::string(kind);
  }
  return text;
}

std::vector<std::string> crash_details(const Crash& crash) {
  std::vector<std::string> details;
  if (!crash.text.empty()) details.push_back("message: " + crash.text);
  for (std::size_t i = 0; i < crash.objects.size(); ++i) {
    const CrashObject& object = crash.objects[i];
    const std::string message = object.message.empty() ? "" : ": " + object.message;
    details.push_back((i == 0 ? "" : kInner) + type_words(object) + message);
  }
  return details;
}

std::vector<std::string> handled_words(const HandledException& exception) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < exception.objects.size(); ++i) {
    const CrashObject& object = exception.objects[i];
    const std::string message = object.message.empty() ? "" : ": \"" + object.message + '"';
    lines.push_back((i == 0 ? "handles " : kInner) + type_words(object) + message);
  }
  return lines;
}

}  // namespace mixwalk
