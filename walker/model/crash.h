#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mixwalk {

// How an instruction touched memory that it may not touch.
enum class CrashAccess : std::uint8_t {
  none,  // the exception is not about memory, or the dump does not say
  read,
  write,
  execute,
};
inline constexpr CrashAccess kLastCrashAccess = CrashAccess::execute;

// An exception object of the program: a managed one, or one of C++.
struct CrashObject {
  std::string type;     // "System.InvalidOperationException", "std::runtime_error"; as the program has it
  std::string message;  // empty if there is none, or if it is not known
  std::uint32_t hresult = 0;  // of a managed exception; 0 if it is not known
  // The frames of a managed exception's own stack trace, in the order of Exception.StackTrace, by their names.
  std::vector<std::string> trace;

  bool operator==(const CrashObject&) const = default;
};

// A managed exception that a thread handles: the thread is in a filter, a catch or a finally, or on the way there.
struct HandledException {
  std::vector<CrashObject> objects;  // the exception, then its inner exceptions

  bool operator==(const HandledException&) const = default;
};

// The exception because of which a dump file was written. A value.
struct Crash {
  std::uint32_t thread = 0;   // OS id
  std::uint32_t code = 0;     // of the exception: an NTSTATUS, or the code of a compiler or a runtime
  std::uint64_t address = 0;  // of the instruction that raised it
  CrashAccess access = CrashAccess::none;
  std::uint64_t touched = 0;  // the address that the instruction touched, if `access` is not none
  // What the exception says besides its code: the NTSTATUS of a failed read from a disk, the FAST_FAIL_* of a fail
  // fast, the HRESULT of a managed exception. 0 if there is nothing.
  std::uint32_t detail = 0;
  std::string text{};  // the message that the program gave to Environment.FailFast; empty if unknown
  // The exception objects: the one that was not caught first, then its inner exceptions.
  std::vector<CrashObject> objects;

  bool operator==(const Crash&) const = default;
};

// The most objects of one crash or of one handled exception, and frames of one object, that are kept.
inline constexpr std::size_t kMaxCrashObjects = 16, kMaxCrashTrace = 64;

}  // namespace mixwalk
