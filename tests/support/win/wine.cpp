#include "tests/support/win/wine.h"

#include <windows.h>

namespace mixwalk {
namespace {

thread_local bool t_faulted = false;

// Skips the two bytes of `int $0x80`.
LONG CALLBACK skip_interrupt(EXCEPTION_POINTERS* pointers) {
  CONTEXT& context = *pointers->ContextRecord;
  const auto* code = reinterpret_cast<const unsigned char*>(context.Rip);
  if (code[0] != 0xcd || code[1] != 0x80) return EXCEPTION_CONTINUE_SEARCH;
  t_faulted = true;
  context.Rip += 2;
  return EXCEPTION_CONTINUE_EXECUTION;
}

}  // namespace

bool under_wine() { return GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != nullptr; }

bool runs_32_bit_code() {
  if (!under_wine()) return true;
  constexpr int kGetpid = 20;  // of 32-bit Linux
  void* handler = AddVectoredExceptionHandler(1, &skip_interrupt);
  t_faulted = false;
  int result = kGetpid;
  asm volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
  RemoveVectoredExceptionHandler(handler);
  return !t_faulted && result > 0;
}

}  // namespace mixwalk
