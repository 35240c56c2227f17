// Does on purpose what no sampler may do while a thread is frozen, at the start of its walk: when the stack is copied
// and the supervisor is watching. The calls use the import table, like everything in this DLL.
//
// The linker redirects two functions of the product to this file (--wrap, in end_to_end/CMakeLists.txt).

#include <cstdio>
#include <cstdlib>

#include "symbols/win/profiling_api.h"
#include "tests/support/win/freeze_trap.h"

extern "C" {
// ClrManagedWalk::warm_up(ICorProfilerInfo4*): this call gives access to the runtime's interface.
void real_warm_up(void* walk, mixwalk::clr::ICorProfilerInfo4* info) noexcept
    __asm__("__real__ZN7mixwalk14ClrManagedWalk7warm_upEPNS_3clr17ICorProfilerInfo4E");
void wrapped_warm_up(void* walk, mixwalk::clr::ICorProfilerInfo4* info) noexcept
    __asm__("__wrap__ZN7mixwalk14ClrManagedWalk7warm_upEPNS_3clr17ICorProfilerInfo4E");
// ModuleView::find(uint64_t): a walk begins with this call. It is called all over the DLL, frozen or not.
const void* real_find(const void* view, std::uint64_t address) noexcept
    __asm__("__real__ZNK7mixwalk10ModuleView4findEy");
const void* wrapped_find(const void* view, std::uint64_t address) noexcept
    __asm__("__wrap__ZNK7mixwalk10ModuleView4findEy");
}

namespace mixwalk {
namespace {

// The block is too large for the lists of small blocks that a heap serves without its lock.
constexpr std::size_t kBlockBytes = 128 << 10;

// The 64 KiB at the bottom of every process are never mapped.
constexpr std::uint64_t kNowhere = 0x8000;

clr::ICorProfilerInfo4* g_info = nullptr;

void sabotage_now(Sabotage sabotage) {
  switch (sabotage) {
    case Sabotage::none: break;
    case Sabotage::heap:
      HeapFree(GetProcessHeap(), 0, HeapAlloc(GetProcessHeap(), 0, kBlockBytes));
      break;
    case Sabotage::crt_heap: {
      void* volatile block = std::malloc(kBlockBytes);
      std::free(block);
      break;
    }
    case Sabotage::loader: GetModuleHandleW(L"no such module.dll"); break;
    case Sabotage::function_table: {
      DWORD64 image = 0;
      RtlLookupFunctionEntry(kNowhere, &image, nullptr);
      break;
    }
    case Sabotage::crt: {
      const char* volatile nothing = "";  // the compiler would remove fputs("")
      std::fputs(nothing, stdout);
      break;
    }
    case Sabotage::srw_lock: {
      static SRWLOCK lock = SRWLOCK_INIT;
      AcquireSRWLockExclusive(&lock);
      ReleaseSRWLockExclusive(&lock);
      break;
    }
    case Sabotage::thread_store: {
      clr::ICorProfilerThreadEnum* threads = nullptr;
      if (g_info != nullptr && SUCCEEDED(g_info->EnumThreads(&threads))) threads->Release();
      break;
    }
  }
}

}  // namespace
}  // namespace mixwalk

void wrapped_warm_up(void* walk, mixwalk::clr::ICorProfilerInfo4* info) noexcept {
  mixwalk::g_info = info;
  real_warm_up(walk, info);
}

const void* wrapped_find(const void* view, std::uint64_t address) noexcept {
  using namespace mixwalk;
  static std::uint64_t done = 0;  // the section in which it was done, so that it is done once a freeze; only the
                                  // sampler calls this in a section of its own
  const std::uint64_t section = frozen_section();
  if (section != 0 && section != done) {
    done = section;
    FreezeTrapRecord& record = *freeze_trap_record();
    if (record.sabotage != Sabotage::none) {
      sabotage_now(record.sabotage);
      record.sabotages.fetch_add(1);
    }
  }
  return real_find(view, address);
}
