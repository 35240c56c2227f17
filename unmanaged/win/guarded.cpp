#include "unmanaged/win/guarded.h"

#include <windows.h>

extern "C" {
// guarded_amd64.S
int mixwalk_guarded_copy(void* to, const void* from, std::size_t bytes);
int mixwalk_guarded_call(void (*function)(void*), void* argument);

// The filter of both guards: faults of memory end there, everything else goes its way.
long mixwalk_guard_filter(EXCEPTION_POINTERS* exception, void*) {
  switch (exception->ExceptionRecord->ExceptionCode) {
    case static_cast<DWORD>(EXCEPTION_ACCESS_VIOLATION):
    case static_cast<DWORD>(EXCEPTION_IN_PAGE_ERROR):
    case static_cast<DWORD>(EXCEPTION_DATATYPE_MISALIGNMENT):
    case static_cast<DWORD>(EXCEPTION_GUARD_PAGE): return EXCEPTION_EXECUTE_HANDLER;
    default: return EXCEPTION_CONTINUE_SEARCH;
  }
}
}

namespace mixwalk {

bool guarded_copy(void* to, std::uint64_t from, std::size_t bytes) noexcept {
  return mixwalk_guarded_copy(to, reinterpret_cast<const void*>(from), bytes) != 0;
}

bool guarded_call(void (*function)(void*), void* argument) noexcept {
  return mixwalk_guarded_call(function, argument) != 0;
}

}  // namespace mixwalk
