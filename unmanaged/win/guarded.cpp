#include "unmanaged/win/guarded.h"

#include <windows.h>

#include <atomic>

extern "C" {
// guarded_amd64.S
int mixwalk_guarded_copy(void* to, const void* from, std::size_t bytes);
extern const char mixwalk_guarded_copy_begin[], mixwalk_guarded_copy_end[];
extern const char mixwalk_guarded_copy_fault[];
int mixwalk_guarded_call(void (*function)(void*), void* argument, std::uint64_t* stack_pointer);
extern const char mixwalk_guarded_call_fault[];
}

namespace mixwalk {
namespace {

// The stack pointer to which a fault of this thread returns, of the innermost guarded_call. A TLS
// slot of the system's, since compiler TLS (emutls) allocates on first use.
DWORD g_slot = TLS_OUT_OF_INDEXES;
void* g_handler = nullptr;
std::atomic<int> g_guards{0};

std::uint64_t address_of(const char* label) { return reinterpret_cast<std::uint64_t>(label); }

bool is_memory_fault(DWORD code) {
  return code == EXCEPTION_ACCESS_VIOLATION || code == EXCEPTION_IN_PAGE_ERROR ||
         code == EXCEPTION_DATATYPE_MISALIGNMENT || code == STATUS_GUARD_PAGE_VIOLATION;
}

LONG CALLBACK on_exception(EXCEPTION_POINTERS* exception) {
  if (!is_memory_fault(exception->ExceptionRecord->ExceptionCode)) return EXCEPTION_CONTINUE_SEARCH;
  CONTEXT& context = *exception->ContextRecord;
  if (context.Rip >= address_of(mixwalk_guarded_copy_begin) &&
      context.Rip < address_of(mixwalk_guarded_copy_end)) {
    context.Rip = address_of(mixwalk_guarded_copy_fault);
    return EXCEPTION_CONTINUE_EXECUTION;
  }
  // TlsGetValue clears the last error, and this may be any thread of the target, in the middle of
  // anything: the fault behind a NullReferenceException comes through here too.
  const DWORD last_error = GetLastError();
  auto* stack_pointer = static_cast<std::uint64_t*>(TlsGetValue(g_slot));
  SetLastError(last_error);
  if (stack_pointer == nullptr) return EXCEPTION_CONTINUE_SEARCH;
  context.Rsp = *stack_pointer;
  context.Rip = address_of(mixwalk_guarded_call_fault);
  return EXCEPTION_CONTINUE_EXECUTION;
}

}  // namespace

FaultGuard::FaultGuard() noexcept {
  if (g_guards.fetch_add(1) != 0) return;
  g_slot = TlsAlloc();
  g_handler = AddVectoredExceptionHandler(1, &on_exception);
}

FaultGuard::~FaultGuard() {
  if (g_guards.fetch_sub(1) != 1) return;
  RemoveVectoredExceptionHandler(g_handler);
  TlsFree(g_slot);
  g_slot = TLS_OUT_OF_INDEXES;
}

bool guarded_copy(void* to, std::uint64_t from, std::size_t bytes) noexcept {
  return mixwalk_guarded_copy(to, reinterpret_cast<const void*>(from), bytes) != 0;
}

bool guarded_call(void (*function)(void*), void* argument) noexcept {
  void* const outer = TlsGetValue(g_slot);
  std::uint64_t stack_pointer = 0;
  TlsSetValue(g_slot, &stack_pointer);
  const bool whole = mixwalk_guarded_call(function, argument, &stack_pointer) != 0;
  TlsSetValue(g_slot, outer);
  return whole;
}

}  // namespace mixwalk
