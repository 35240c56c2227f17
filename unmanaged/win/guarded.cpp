#include "unmanaged/win/guarded.h"

#include <windows.h>

#include "unmanaged/step/zero_read.h"
#include "unmanaged/win/context.h"

extern "C" {
// The progress of the repairs of one look-up.
struct mixwalk_repairs {
  int left;
  bool may_move;  // a repair may continue the execution at another instruction than that of the fault
  bool busy;      // a repair is being made; faults of the repair itself are not repaired
};
// See guarded_amd64.S. `repairs` is null if no repairs are wanted.
int mixwalk_guarded_copy(void* to, const void* from, std::size_t bytes);
int mixwalk_guarded_call(void (*function)(void*), void* argument, mixwalk_repairs* repairs);
}

namespace mixwalk {
namespace {

// A stale table that is not sorted is read from end to end, with two faults per entry. 10,000 repairs take some 0.5 s.
constexpr int kMaxRepairs = 10'000;
// The limits for ntdll's own calls below the look-up, and for the calls of a callback.
constexpr int kMaxLookUpFrames = 16, kMaxCallbackFrames = 256;
// The offset at which guarded_amd64.S keeps `repairs`.
constexpr std::uint64_t kRepairsInFrame = 0xC0;

// Returns whether an address lies in ntdll. Takes no lock.
bool in_ntdll(std::uint64_t address) noexcept {
  const auto base_of = [](const void* at) noexcept {
    MEMORY_BASIC_INFORMATION info;
    return VirtualQuery(at, &info, sizeof info) != 0 ? info.AllocationBase : nullptr;
  };
  const void* const base = base_of(reinterpret_cast<const void*>(&RtlLookupFunctionEntry));
  return base != nullptr && base_of(reinterpret_cast<const void*>(address)) == base;
}

// Steps `context` to the caller; `frame` receives the establisher frame of the function that was left. Returns false if
// no unwind data says where the caller is. A function of ntdll without unwind data is a leaf function.
bool step_out(ContextCopy& context, DWORD64& frame, std::uint64_t end) noexcept {
  DWORD64 base = 0;
  RUNTIME_FUNCTION* const entry = RtlLookupFunctionEntry(context.Rip, &base, nullptr);
  if (entry == nullptr) {
    if (!in_ntdll(context.Rip) || !guarded_copy(&context.Rip, context.Rsp, sizeof context.Rip)) {
      return false;
    }
    context.Rsp += 8;
    return context.Rsp < end;
  }
  void* data = nullptr;
  RtlVirtualUnwind(UNW_FLAG_NHANDLER, base, context.Rip, entry, &context, &data, &frame, nullptr);
  return context.Rsp < end;
}

// Whether the fault is in the look-up's own code: all frames from here up to the function that the guard called are
// frames of ntdll. Otherwise a callback of the program may have called ntdll for another purpose, with locks held.
bool is_of_look_up(ContextCopy context, std::uint64_t guard_frame) noexcept {
  if (!in_ntdll(context.Rip)) return false;
  DWORD64 frame = 0;
  for (int i = 0; i < kMaxLookUpFrames && in_ntdll(context.Rip); ++i) {
    if (!step_out(context, frame, guard_frame)) return false;
  }
  // The guard calls that function with the Rsp that the guard's prologue has left.
  return step_out(context, frame, guard_frame + 1) && context.Rsp == guard_frame;
}

// A callback of the program has faulted, and no handler of its own takes the fault: execution continues in ntdll as if
// the callback had answered "no function". The system unwinds the callback's frames, so that its termination handlers
// run. Returns if that is not possible.
void leave_callback(EXCEPTION_POINTERS& exception, std::uint64_t guard_frame, bool& busy) noexcept {
  ContextCopy context(*exception.ContextRecord);
  DWORD64 frame = 0;
  for (int i = 0; i < kMaxCallbackFrames; ++i) {
    if (!step_out(context, frame, guard_frame)) return;
    if (!is_of_look_up(context, guard_frame)) continue;
    ContextCopy caller = context;
    if (!step_out(caller, frame, guard_frame)) return;
    busy = false;
    RtlUnwindEx(reinterpret_cast<void*>(frame), reinterpret_cast<void*>(context.Rip),
                exception.ExceptionRecord, nullptr, &caller, nullptr);
  }
}

// Returns false if the fault is not that of a look-up, or cannot be repaired.
bool repair(EXCEPTION_POINTERS& exception, std::uint64_t guard_frame, mixwalk_repairs& repairs) noexcept {
  const EXCEPTION_RECORD& record = *exception.ExceptionRecord;
  CONTEXT& context = *exception.ContextRecord;
  const bool is_access = record.ExceptionCode == static_cast<DWORD>(EXCEPTION_ACCESS_VIOLATION) ||
                         record.ExceptionCode == static_cast<DWORD>(EXCEPTION_IN_PAGE_ERROR);
  if (repairs.may_move && is_access && record.NumberParameters >= 2 && record.ExceptionInformation[1] == context.Rip) {
    // The callback's code is no longer loaded. It has executed nothing, so its return address is on top of the stack.
    ContextCopy caller(context);
    if (!guarded_copy(&caller.Rip, context.Rsp, sizeof caller.Rip)) return false;
    caller.Rsp += 8;
    if (!is_of_look_up(caller, guard_frame)) return false;
    context.Rip = caller.Rip;
    context.Rsp = caller.Rsp;
    context.Rax = 0;
    return true;
  }
  if (!is_of_look_up(ContextCopy(context), guard_frame)) {
    if (repairs.may_move) leave_callback(exception, guard_frame, repairs.busy);
    return false;
  }
  // The access has removed the guard of the page, so the same read now succeeds.
  if (record.ExceptionCode == static_cast<DWORD>(EXCEPTION_GUARD_PAGE)) return true;
  constexpr ULONG_PTR kRead = 0;
  if (!repairs.may_move || !is_access || record.NumberParameters < 2 || record.ExceptionInformation[0] != kRead) {
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
// Faults of memory accesses end at a guard; every other exception is passed on to the next handler.
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
  auto* const repairs = *reinterpret_cast<mixwalk_repairs**>(guard_frame + mixwalk::kRepairsInFrame);
  if (repairs == nullptr || repairs->busy || --repairs->left < 0) return EXCEPTION_EXECUTE_HANDLER;
  repairs->busy = true;
  const bool repaired = mixwalk::repair(*exception, guard_frame, *repairs);
  repairs->busy = false;
  return repaired ? EXCEPTION_CONTINUE_EXECUTION : EXCEPTION_EXECUTE_HANDLER;
}
}

namespace mixwalk {

bool guarded_copy(void* to, std::uint64_t from, std::size_t bytes) noexcept {
  return mixwalk_guarded_copy(to, reinterpret_cast<const void*>(from), bytes) != 0;
}

bool guarded_call(void (*function)(void*), void* argument) noexcept {
  return mixwalk_guarded_call(function, argument, nullptr) != 0;
}

bool has_shadow_stack() noexcept {
  std::uint64_t pointer = 0;
  // rdsspq rax: does nothing on a processor, or in a thread, without shadow stacks.
  asm volatile(".byte 0xF3, 0x48, 0x0F, 0x1E, 0xC8" : "+a"(pointer));
  return pointer != 0;
}

LookUp guarded_look_up(void (*function)(void*), void* argument, bool shadow_stack) noexcept {
  mixwalk_repairs repairs{.left = kMaxRepairs, .may_move = !shadow_stack, .busy = false};
  if (mixwalk_guarded_call(function, argument, &repairs) == 0) return LookUp::ended;
  return repairs.left == kMaxRepairs ? LookUp::done : LookUp::repaired;
}

}  // namespace mixwalk
