#include "unmanaged/win/guarded.h"

#include <windows.h>

#include "unmanaged/step/zero_read.h"
#include "unmanaged/win/context.h"

extern "C" {
// guarded_amd64.S. `repairs`: how many faults of a look-up may still be repaired.
int mixwalk_guarded_copy(void* to, const void* from, std::size_t bytes);
int mixwalk_guarded_call(void (*function)(void*), void* argument, int* repairs);
}

namespace mixwalk {
namespace {

// A search of a table of 4 GiB reads it some 30 times, each time at most twice.
constexpr int kMaxRepairs = 64;
constexpr int kMaxCallbackFrames = 64;
// Where guarded_amd64.S keeps `repairs`.
constexpr std::uint64_t kRepairsInFrame = 0xC0;

// Whether an address lies in ntdll. Takes no lock.
bool in_ntdll(std::uint64_t address) noexcept {
  const auto base_of = [](const void* at) noexcept {
    MEMORY_BASIC_INFORMATION info;
    return VirtualQuery(at, &info, sizeof info) != 0 ? info.AllocationBase : nullptr;
  };
  const void* const base = base_of(reinterpret_cast<const void*>(&RtlLookupFunctionEntry));
  return base != nullptr && base_of(reinterpret_cast<const void*>(address)) == base;
}

// A program's callback stands at the context, `end` above it: makes of it the return to ntdll, with
// "no function" as its answer. False: the way back is not to be found.
bool return_from_callback(CONTEXT& context, std::uint64_t end) noexcept {
  for (int i = 0; i < kMaxCallbackFrames && !in_ntdll(context.Rip); ++i) {
    DWORD64 base = 0;
    RUNTIME_FUNCTION* const entry = RtlLookupFunctionEntry(context.Rip, &base, nullptr);
    if (entry != nullptr) {
      void* data = nullptr;
      DWORD64 frame = 0;
      RtlVirtualUnwind(UNW_FLAG_NHANDLER, base, context.Rip, entry, &context, &data, &frame, nullptr);
    } else {
      if (!guarded_copy(&context.Rip, context.Rsp, sizeof context.Rip)) return false;
      context.Rsp += 8;
    }
    if (context.Rsp >= end) return false;
  }
  context.Rax = 0;
  return in_ntdll(context.Rip);
}

// False: the fault is none of a look-up's, or cannot be repaired.
bool repair(EXCEPTION_POINTERS& exception, std::uint64_t guard_frame) noexcept {
  const EXCEPTION_RECORD& record = *exception.ExceptionRecord;
  CONTEXT& context = *exception.ContextRecord;
  if (!in_ntdll(context.Rip)) {
    CONTEXT caller = context;
    if (!return_from_callback(caller, guard_frame)) return false;
    context = caller;
    return true;
  }
  // Its guard is used up: the same read goes well now.
  if (record.ExceptionCode == static_cast<DWORD>(EXCEPTION_GUARD_PAGE)) return true;
  constexpr ULONG_PTR kRead = 0;
  if (record.ExceptionCode != static_cast<DWORD>(EXCEPTION_ACCESS_VIOLATION) ||
      record.NumberParameters < 2 || record.ExceptionInformation[0] != kRead) {
    return false;
  }
  Registers registers = registers_of(context);
  std::uint32_t flags = context.EFlags;
  if (!read_as_zero(GuardedReader(), registers, flags)) return false;
  set_registers(context, registers);
  context.EFlags = flags;
  return true;
}

}  // namespace
}  // namespace mixwalk

extern "C" {
// Faults of memory end at a guard, everything else goes its way.
long mixwalk_guard_filter(EXCEPTION_POINTERS* exception, void*) {
  switch (exception->ExceptionRecord->ExceptionCode) {
    case static_cast<DWORD>(EXCEPTION_ACCESS_VIOLATION):
    case static_cast<DWORD>(EXCEPTION_IN_PAGE_ERROR):
    case static_cast<DWORD>(EXCEPTION_DATATYPE_MISALIGNMENT):
    case static_cast<DWORD>(EXCEPTION_GUARD_PAGE): return EXCEPTION_EXECUTE_HANDLER;
    default: return EXCEPTION_CONTINUE_SEARCH;
  }
}

long mixwalk_call_filter(EXCEPTION_POINTERS* exception, void* frame) {
  const long verdict = mixwalk_guard_filter(exception, frame);
  if (verdict != EXCEPTION_EXECUTE_HANDLER) return verdict;
  const auto guard_frame = reinterpret_cast<std::uint64_t>(frame);
  int* const repairs = *reinterpret_cast<int**>(guard_frame + mixwalk::kRepairsInFrame);
  if (repairs == nullptr || --*repairs < 0) return EXCEPTION_EXECUTE_HANDLER;
  return mixwalk::repair(*exception, guard_frame) ? EXCEPTION_CONTINUE_EXECUTION
                                                  : EXCEPTION_EXECUTE_HANDLER;
}
}

namespace mixwalk {

bool guarded_copy(void* to, std::uint64_t from, std::size_t bytes) noexcept {
  return mixwalk_guarded_copy(to, reinterpret_cast<const void*>(from), bytes) != 0;
}

bool guarded_call(void (*function)(void*), void* argument) noexcept {
  return mixwalk_guarded_call(function, argument, nullptr) != 0;
}

LookUp guarded_look_up(void (*function)(void*), void* argument) noexcept {
  int repairs = kMaxRepairs;
  if (mixwalk_guarded_call(function, argument, &repairs) == 0) return LookUp::ended;
  return repairs == kMaxRepairs ? LookUp::done : LookUp::repaired;
}

}  // namespace mixwalk
