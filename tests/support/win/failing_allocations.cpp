// The changes that make mixwalk_starved.dll from mixwalk.dll: its malloc, and so also its operator new, and the system
// calls that create something fail when the test says so (StarvePage).

#include <windows.h>

#include <algorithm>
#include <cstring>

#include "tests/support/win/starve_page.h"

extern "C" IMAGE_DOS_HEADER __ImageBase;

namespace {

using mixwalk::StarveRecord;
using mixwalk::StarveStack;

StarveRecord* g_record = nullptr;

const auto g_base = reinterpret_cast<DWORD64>(&__ImageBase);

// Returns the function's entry, or null if the address is not in this DLL or is in a leaf function.
// RtlLookupFunctionEntry is not used, because it takes locks.
RUNTIME_FUNCTION* own_function(DWORD64 address) noexcept {
  const auto* nt = reinterpret_cast<IMAGE_NT_HEADERS*>(g_base + __ImageBase.e_lfanew);
  const auto& directory = nt->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_EXCEPTION];
  if (address - g_base >= nt->OptionalHeader.SizeOfImage) return nullptr;
  const auto rva = static_cast<DWORD>(address - g_base);
  auto* const begin = reinterpret_cast<RUNTIME_FUNCTION*>(g_base + directory.VirtualAddress);
  auto* const end = begin + directory.Size / sizeof *begin;
  auto* const next = std::upper_bound(
      begin, end, rva, [](DWORD at, const RUNTIME_FUNCTION& one) { return at < one.BeginAddress; });
  return next == begin || rva >= (next - 1)->EndAddress ? nullptr : next - 1;
}

bool step(CONTEXT& context, DWORD64 base, RUNTIME_FUNCTION* function) noexcept {
  if (function == nullptr) return false;
  void* data = nullptr;
  DWORD64 frame = 0;
  RtlVirtualUnwind(UNW_FLAG_NHANDLER, base, context.Rip, function, &context, &data, &frame,
                   nullptr);
  return context.Rip != 0;
}

// Hashes with FNV-1a.
std::uint64_t place_of_caller() noexcept {
  CONTEXT context;
  RtlCaptureContext(&context);
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
  for (std::uint32_t i = 0; i < StarveStack::kMax; ++i) {
    hash = (hash ^ (context.Rip - g_base)) * 0x100'0000'01B3;
    if (!step(context, g_base, own_function(context.Rip)) || own_function(context.Rip) == nullptr)
      break;
  }
  return hash;
}

// Records also the frames outside this DLL.
void remember(StarveStack& stack, CONTEXT context) noexcept {
  std::uint32_t depth = 0;
  while (depth < StarveStack::kMax) {
    DWORD64 base = 0;
    RUNTIME_FUNCTION* const function = RtlLookupFunctionEntry(context.Rip, &base, nullptr);
    stack.addresses[depth++] = base == g_base ? context.Rip - base : context.Rip;
    if (!step(context, base, function)) break;
  }
  stack.depth = depth;
}

void remember_here(StarveStack& stack) noexcept {
  CONTEXT context;
  RtlCaptureContext(&context);
  remember(stack, context);
}

LONG CALLBACK see_fault(EXCEPTION_POINTERS* exception) {
  if (g_record != nullptr &&
      exception->ExceptionRecord->ExceptionCode == static_cast<DWORD>(EXCEPTION_ACCESS_VIOLATION)) {
    remember(g_record->end, *exception->ContextRecord);
  }
  return EXCEPTION_CONTINUE_SEARCH;
}

void learn(std::uint64_t place) noexcept {
  std::size_t slot = place % StarveRecord::kMaxPlaces;
  for (std::size_t i = 0; i < StarveRecord::kMaxPlaces;
       ++i, slot = (slot + 1) % StarveRecord::kMaxPlaces) {
    StarveRecord::Place& known = g_record->places[slot];
    std::uint64_t nothing = 0;
    if (known.hash.compare_exchange_strong(nothing, place) || nothing == place) {
      ++known.times;
      return;
    }
  }
}

bool must_fail(const char* import) noexcept {
  if (g_record->all || std::strncmp(g_record->import, import, sizeof g_record->import) == 0)
    return true;
  const std::uint64_t wanted = g_record->place;
  if (wanted == 0 && !g_record->learn) return false;
  const bool all_that_follow = g_record->all_that_follow;
  if (all_that_follow && g_record->times >= g_record->time) return true;
  const std::uint64_t place = place_of_caller();
  if (g_record->learn) learn(place);
  return wanted == place && ++g_record->times == g_record->time;
}

bool fails(const char* import) noexcept {
  if (g_record == nullptr) return false;
  ++g_record->count;
  if (!must_fail(import)) return false;
  if (g_record->failed++ == 0) remember_here(g_record->first_failure);
  return true;
}

// Replaces a system call of our import table. The result of the replacement, kFailed, says that the call failed.
template <std::intptr_t kFailed, class Result, class... Arguments>
struct Import {
  static inline Result(WINAPI* original)(Arguments...) = nullptr;
  static inline const char* name = nullptr;
  static Result WINAPI call(Arguments... arguments) {
    if (!fails(name)) return original(arguments...);
    SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    return (Result)kFailed;
  }
};

using CreateEventImport = Import<0, HANDLE, SECURITY_ATTRIBUTES*, BOOL, BOOL, LPCWSTR>;
using CreateThreadImport =
    Import<0, HANDLE, SECURITY_ATTRIBUTES*, SIZE_T, LPTHREAD_START_ROUTINE, void*, DWORD, DWORD*>;
using CreateTimerImport = Import<0, HANDLE, SECURITY_ATTRIBUTES*, LPCWSTR, DWORD, DWORD>;
using DuplicateHandleImport =
    Import<FALSE, BOOL, HANDLE, HANDLE, HANDLE, HANDLE*, DWORD, BOOL, DWORD>;
using HeapAllocImport = Import<0, void*, HANDLE, DWORD, SIZE_T>;
constexpr LONG kNoMemory = static_cast<LONG>(0xC000'0017);  // STATUS_NO_MEMORY
using ListThreadsImport = Import<kNoMemory, LONG, int, void*, ULONG, ULONG*>;
using MapViewImport = Import<0, void*, HANDLE, DWORD, DWORD, DWORD, SIZE_T>;
using OpenThreadImport = Import<0, HANDLE, DWORD, BOOL, DWORD>;
using VirtualAllocImport = Import<0, void*, void*, SIZE_T, DWORD, DWORD>;

struct MallocImport {
  static inline void* (*original)(std::size_t) = nullptr;
  static void* call(std::size_t bytes) {
    if (g_record != nullptr && g_record->spoil_last_error != 0) {
      SetLastError(g_record->spoil_last_error);
    }
    return fails("malloc") ? nullptr : original(bytes);
  }
};

struct CallocImport {
  static inline void* (*original)(std::size_t, std::size_t) = nullptr;
  static void* call(std::size_t count, std::size_t bytes) {
    return fails("calloc") ? nullptr : original(count, bytes);
  }
};

struct ReallocImport {
  static inline void* (*original)(void*, std::size_t) = nullptr;
  static void* call(void* block, std::size_t bytes) {
    return fails("realloc") ? nullptr : original(block, bytes);
  }
};

struct AbortImport {
  static inline void (*original)() = nullptr;
  static void call() {
    if (g_record != nullptr) remember_here(g_record->end);
    original();
  }
};

template <class Replacement>
void replace(IMAGE_THUNK_DATA& slot, const char*) {
  DWORD before = 0;
  VirtualProtect(&slot, sizeof slot, PAGE_READWRITE, &before);
  std::memcpy(&Replacement::original, &slot.u1.Function, sizeof slot.u1.Function);
  slot.u1.Function = reinterpret_cast<ULONGLONG>(&Replacement::call);
  VirtualProtect(&slot, sizeof slot, before, &before);
}

template <class Replacement>
void replace_call(IMAGE_THUNK_DATA& slot, const char* name) {
  Replacement::name = name;
  replace<Replacement>(slot, name);
}

constexpr struct {
  const char* import;
  void (*put)(IMAGE_THUNK_DATA&, const char* name);
} kReplaced[] = {
    {"malloc", &replace<MallocImport>},
    {"calloc", &replace<CallocImport>},
    {"realloc", &replace<ReallocImport>},
    {"abort", &replace<AbortImport>},
    {"CreateEventW", &replace_call<CreateEventImport>},
    {"CreateThread", &replace_call<CreateThreadImport>},
    {"CreateWaitableTimerExW", &replace_call<CreateTimerImport>},
    {"DuplicateHandle", &replace_call<DuplicateHandleImport>},
    {"HeapAlloc", &replace_call<HeapAllocImport>},
    {"MapViewOfFile", &replace_call<MapViewImport>},
    {"NtQuerySystemInformation", &replace_call<ListThreadsImport>},
    {"OpenThread", &replace_call<OpenThreadImport>},
    {"VirtualAlloc", &replace_call<VirtualAllocImport>},
};

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
      for (const auto& [import, put] : kReplaced) {
        if (std::strcmp(name, import) == 0) put(*slots, import);
      }
    }
  }
}

const struct Starved {
  Starved() {
    replace_imports();
    g_record = page.get();
    handler = AddVectoredExceptionHandler(1, &see_fault);
  }
  ~Starved() {
    RemoveVectoredExceptionHandler(handler);
    g_record = nullptr;
  }
  void* handler = nullptr;
  mixwalk::StarvePage page{GetCurrentProcessId()};
} g_starved;

}  // namespace
