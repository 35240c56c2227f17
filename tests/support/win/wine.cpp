#include "tests/support/win/wine.h"

#include <windows.h>

namespace mixwalk {
namespace {

// Skips the two bytes of `int $0x80`, and gives the result of a system call that failed.
LONG CALLBACK skip_interrupt(EXCEPTION_POINTERS* pointers) {
  CONTEXT& context = *pointers->ContextRecord;
  const auto* code = reinterpret_cast<const unsigned char*>(context.Rip);
  if (code[0] != 0xcd || code[1] != 0x80) return EXCEPTION_CONTINUE_SEARCH;
  context.Rip += 2;
  context.Rax = ~0ULL;
  return EXCEPTION_CONTINUE_EXECUTION;
}

}  // namespace

bool under_wine() { return GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != nullptr; }

bool runs_32_bit_code() {
  if (!under_wine()) return true;
  constexpr int kGetpid = 20;  // of 32-bit Linux
  void* handler = AddVectoredExceptionHandler(1, &skip_interrupt);
  int result = kGetpid;
  asm volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
  RemoveVectoredExceptionHandler(handler);
  return result > 0;
}

}  // namespace mixwalk
