#include "tests/support/win/freeze_trap.h"

#include <array>
#include <cstring>

extern "C" {
// Defined in freeze_trap_amd64.S:
extern const char mixwalk_trap_thunks[];
// Used by that file: the number of frozen sections, and the real targets of the imports.
std::atomic<std::uint32_t> mixwalk_trap_frozen{0};
void* mixwalk_trap_originals[mixwalk::FreezeTrapRecord::kMaxImports];
void mixwalk_trap_record(std::uint32_t import, std::uint64_t return_address);
// Defined by the linker: the start of this DLL.
extern const IMAGE_DOS_HEADER __ImageBase;
}

namespace mixwalk {
namespace {

constexpr std::size_t kThunkBytes = 16;
constexpr DWORD kFailed = static_cast<DWORD>(-1);

// The maximum number of threads that a sampler suspends at once.
constexpr std::size_t kMaxSections = 1024;
struct Section {
  std::atomic<DWORD> by{0};  // thread id; 0 if the entry is free
  std::atomic<HANDLE> target{nullptr};
  std::atomic<std::uint64_t> since{0};  // ticks
};
std::array<Section, kMaxSections> g_sections;
// The owner and the target of the section that another thread ended last. The owner may suspend the target once more,
// for a later ResumeThread of the runtime that is not seen here. Such a suspension is not a section.
std::atomic<DWORD> g_ended_of{0};
std::atomic<HANDLE> g_ended{nullptr};

FreezeTrapRecord* g_record = nullptr;
std::uint64_t g_frequency = 1;  // ticks a second
std::uint32_t g_suspend = 0, g_resume = 0, g_clock = 0;  // the numbers of these imports

// Reads the id from the TEB (ClientId.UniqueThread), because GetCurrentThreadId is an import.
DWORD own_id() {
  DWORD id;
  asm volatile("movl %%gs:0x48, %0" : "=r"(id));
  return id;
}

std::uint64_t base() { return reinterpret_cast<std::uint64_t>(&__ImageBase); }

template <class Function>
Function* original(std::uint32_t import, Function*) {
  return reinterpret_cast<Function*>(mixwalk_trap_originals[import]);
}

std::uint64_t ticks() {
  LARGE_INTEGER value;
  original(g_clock, &QueryPerformanceCounter)(&value);
  return static_cast<std::uint64_t>(value.QuadPart);
}

void enter(HANDLE target) {
  DWORD own = own_id();
  if (g_ended.load() == target && g_ended_of.compare_exchange_strong(own, 0)) return;
  for (Section& section : g_sections) {
    DWORD free = 0;
    if (!section.by.compare_exchange_strong(free, own_id())) continue;
    section.since.store(ticks());
    section.target.store(target);
    mixwalk_trap_frozen.fetch_add(1);
    return;
  }
}

void count(std::uint64_t section_ticks) {
  const std::uint64_t ns = section_ticks * 1'000'000'000 / g_frequency;
  g_record->freezes.fetch_add(1);
  if (ns > g_record->limit_ns.load()) g_record->over_limit.fetch_add(1);
  std::uint64_t longest = g_record->longest_ns.load();
  while (ns > longest && !g_record->longest_ns.compare_exchange_weak(longest, ns)) {
  }
}

void leave(HANDLE target) {
  for (Section& section : g_sections) {
    const DWORD by = section.by.load();
    if (by == 0 || section.target.load() != target) continue;
    if (by != own_id()) {
      g_record->ended_by_another.fetch_add(1);
      g_ended.store(target);
      g_ended_of.store(by);
    }
    count(ticks() - section.since.load());
    mixwalk_trap_frozen.fetch_sub(1);
    section.target.store(nullptr);
    section.by.store(0);
    return;
  }
}

// The return address of the function that uses this macro. That function must not be inlined.
#define RETURN_ADDRESS reinterpret_cast<std::uint64_t>(__builtin_return_address(0))

__attribute__((noinline)) DWORD WINAPI trapped_suspend(HANDLE thread) {
  mixwalk_trap_record(g_suspend, RETURN_ADDRESS);
  const DWORD before = original(g_suspend, &SuspendThread)(thread);
  if (before != kFailed) enter(thread);
  return before;
}

__attribute__((noinline)) DWORD WINAPI trapped_resume(HANDLE thread) {
  mixwalk_trap_record(g_resume, RETURN_ADDRESS);
  const DWORD before = original(g_resume, &ResumeThread)(thread);
  leave(thread);
  return before;
}

// Whether an import is code; an import of data is left alone.
bool is_code(const void* address) {
  MEMORY_BASIC_INFORMATION page;
  return VirtualQuery(address, &page, sizeof page) != 0 &&
         (page.Protect & (PAGE_EXECUTE | PAGE_EXECUTE_READ | PAGE_EXECUTE_READWRITE |
                          PAGE_EXECUTE_WRITECOPY)) != 0;
}

void* replacement(const char* name, std::uint32_t import) {
  if (std::strcmp(name, "SuspendThread") == 0) {
    g_suspend = import;
    return reinterpret_cast<void*>(&trapped_suspend);
  }
  if (std::strcmp(name, "ResumeThread") == 0) {
    g_resume = import;
    return reinterpret_cast<void*>(&trapped_resume);
  }
  if (std::strcmp(name, "QueryPerformanceCounter") == 0) g_clock = import;
  return const_cast<char*>(mixwalk_trap_thunks + import * kThunkBytes);
}

void replace(void** slot, const char* name) {
  const std::uint32_t import = g_record->imports.load();
  if (import == FreezeTrapRecord::kMaxImports || !is_code(*slot)) return;
  std::strncpy(g_record->table[import].name, name, FreezeTrapRecord::kNameBytes - 1);
  mixwalk_trap_originals[import] = *slot;
  void* const thunk = replacement(name, import);
  DWORD protection = 0;
  VirtualProtect(slot, sizeof *slot, PAGE_READWRITE, &protection);
  *slot = thunk;
  VirtualProtect(slot, sizeof *slot, protection, &protection);
  g_record->imports.store(import + 1);
}

void replace_all() {
  const auto at = [](DWORD rva) { return base() + rva; };
  const auto& nt = *reinterpret_cast<const IMAGE_NT_HEADERS64*>(
      at(static_cast<DWORD>(__ImageBase.e_lfanew)));
  const DWORD imports =
      nt.OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_IMPORT].VirtualAddress;
  for (const auto* dll = reinterpret_cast<const IMAGE_IMPORT_DESCRIPTOR*>(at(imports));
       dll->FirstThunk != 0; ++dll) {
    const auto* name = reinterpret_cast<const IMAGE_THUNK_DATA64*>(at(dll->OriginalFirstThunk));
    auto* slot = reinterpret_cast<void**>(at(dll->FirstThunk));
    for (; name->u1.AddressOfData != 0; ++name, ++slot) {
      if (IMAGE_SNAP_BY_ORDINAL64(name->u1.Ordinal)) continue;  // the DLL has no such imports
      replace(slot, reinterpret_cast<const IMAGE_IMPORT_BY_NAME*>(
                        at(static_cast<DWORD>(name->u1.AddressOfData)))->Name);
    }
  }
}

// Runs when the DLL is loaded: at that time only the loader's thread runs our code.
class FreezeTrap {
 public:
  FreezeTrap() : page_(GetCurrentProcessId()) {
    g_record = page_.get();
    if (g_record == nullptr) return;
    g_record->imports.store(0);  // the DLL may have been loaded in this process before
    LARGE_INTEGER frequency;
    QueryPerformanceFrequency(&frequency);
    g_frequency = static_cast<std::uint64_t>(frequency.QuadPart);
    replace_all();
  }

 private:
  FreezeTrapPage page_;
};
FreezeTrap g_trap;

}  // namespace

FreezeTrapRecord* freeze_trap_record() noexcept { return g_record; }

std::uint64_t frozen_section() noexcept {
  if (mixwalk_trap_frozen.load() == 0) return 0;
  for (const Section& section : g_sections) {
    if (section.by.load() == own_id()) return section.since.load();
  }
  return 0;
}

}  // namespace mixwalk

void mixwalk_trap_record(std::uint32_t import, std::uint64_t return_address) {
  using namespace mixwalk;
  if (frozen_section() == 0) return;
  FreezeTrapRecord::Import& entry = g_record->table[import];
  if (entry.calls.fetch_add(1) == 0) {
    entry.first_caller.store(static_cast<std::uint32_t>(return_address - base()));
  }
}
