// What makes mixwalk_starved.dll of mixwalk.dll: its malloc, so also its operator new, and those
// system calls that make something fail where the test says so (StarvePage).

#include <windows.h>

#include <cstring>

#include "tests/support/win/starve_page.h"

namespace {

using mixwalk::StarveRecord;

StarveRecord* g_record = nullptr;

bool fails() noexcept {
  if (g_record == nullptr) return false;
  const std::uint64_t number = ++g_record->count;
  const std::uint64_t first = g_record->first;
  if (first == 0 || number < first || number > g_record->last) return false;
  ++g_record->failed;
  return true;
}

// A system call of our import table, and what stands there instead.
template <auto kFailed, class Result, class... Arguments>
struct Import {
  static inline Result(WINAPI* original)(Arguments...) = nullptr;
  static Result WINAPI call(Arguments... arguments) {
    if (!fails()) return original(arguments...);
    SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    return static_cast<Result>(kFailed);
  }
};

using CreateEventImport = Import<nullptr, HANDLE, SECURITY_ATTRIBUTES*, BOOL, BOOL, LPCWSTR>;
using CreateThreadImport = Import<nullptr, HANDLE, SECURITY_ATTRIBUTES*, SIZE_T,
                                  LPTHREAD_START_ROUTINE, void*, DWORD, DWORD*>;
using VirtualAllocImport = Import<nullptr, void*, void*, SIZE_T, DWORD, DWORD>;
using CreateTimerImport =
    Import<nullptr, HANDLE, SECURITY_ATTRIBUTES*, LPCWSTR, DWORD, DWORD>;
using DuplicateHandleImport =
    Import<FALSE, BOOL, HANDLE, HANDLE, HANDLE, HANDLE*, DWORD, BOOL, DWORD>;

struct MallocImport {
  static inline void* (*original)(std::size_t) = nullptr;
  static void* call(std::size_t bytes) {
    if (g_record != nullptr && g_record->spoil_last_error != 0) {
      SetLastError(g_record->spoil_last_error);
    }
    return fails() ? nullptr : original(bytes);
  }
};

template <class Replacement>
void replace(IMAGE_THUNK_DATA& slot) {
  DWORD before = 0;
  VirtualProtect(&slot, sizeof slot, PAGE_READWRITE, &before);
  std::memcpy(&Replacement::original, &slot.u1.Function, sizeof slot.u1.Function);
  slot.u1.Function = reinterpret_cast<ULONGLONG>(&Replacement::call);
  VirtualProtect(&slot, sizeof slot, before, &before);
}

void replace_imports() {
  HMODULE own = nullptr;
  GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                         GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                     reinterpret_cast<LPCWSTR>(&fails), &own);
  auto* const base = reinterpret_cast<char*>(own);
  const auto* dos = reinterpret_cast<IMAGE_DOS_HEADER*>(base);
  const auto* nt = reinterpret_cast<IMAGE_NT_HEADERS*>(base + dos->e_lfanew);
  const auto& directory = nt->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_IMPORT];
  auto* dll = reinterpret_cast<IMAGE_IMPORT_DESCRIPTOR*>(base + directory.VirtualAddress);
  for (; dll->Name != 0; ++dll) {
    auto* names = reinterpret_cast<IMAGE_THUNK_DATA*>(base + dll->OriginalFirstThunk);
    auto* slots = reinterpret_cast<IMAGE_THUNK_DATA*>(base + dll->FirstThunk);
    for (; names->u1.AddressOfData != 0; ++names, ++slots) {
      if (IMAGE_SNAP_BY_ORDINAL(names->u1.Ordinal)) continue;
      const char* name =
          reinterpret_cast<IMAGE_IMPORT_BY_NAME*>(base + names->u1.AddressOfData)->Name;
      if (std::strcmp(name, "malloc") == 0) replace<MallocImport>(*slots);
      if (std::strcmp(name, "CreateEventW") == 0) replace<CreateEventImport>(*slots);
      if (std::strcmp(name, "CreateThread") == 0) replace<CreateThreadImport>(*slots);
      if (std::strcmp(name, "VirtualAlloc") == 0) replace<VirtualAllocImport>(*slots);
      if (std::strcmp(name, "CreateWaitableTimerExW") == 0) replace<CreateTimerImport>(*slots);
      if (std::strcmp(name, "DuplicateHandle") == 0) replace<DuplicateHandleImport>(*slots);
    }
  }
}

const struct Starved {
  Starved() {
    replace_imports();
    g_record = page.get();
  }
  ~Starved() { g_record = nullptr; }
  mixwalk::StarvePage page{GetCurrentProcessId()};
} g_starved;

}  // namespace
