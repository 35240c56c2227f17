#include "tests/support/win/wine.h"

#include <windows.h>

namespace mixwalk {

bool under_wine() { return GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != nullptr; }

}  // namespace mixwalk
