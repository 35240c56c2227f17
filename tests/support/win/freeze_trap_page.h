#pragma once

#include <windows.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/support/win/shared_page.h"

namespace mixwalk {

// Actions that a sampler must never do while a thread is frozen. mixwalk_trapped.dll does one of these actions on
// purpose. freeze_trap_test shows that the trap detects the action. lock_holder_test shows that the action hangs if the
// frozen thread holds the lock that the action needs.
enum class Sabotage : std::uint32_t {
  none,
  heap,            // HeapAlloc from the process heap
  crt_heap,        // malloc
  loader,          // GetModuleHandle
  function_table,  // RtlLookupFunctionEntry of an address outside all images
  crt,             // fputs of an empty text to stdout
  srw_lock,        // AcquireSRWLockExclusive of a lock that is free
  thread_store,    // ICorProfilerInfo4::EnumThreads
};

// What the trap has seen: plain memory, shared between the DLL in the target and the test. The memory is zero at first.
// Frozen-safe to write.
struct FreezeTrapRecord {
  static constexpr wchar_t kPageName[] = L"trap";
  static constexpr std::size_t kMaxImports = 256;
  static constexpr std::size_t kNameBytes = 40;

  struct Import {
    char name[kNameBytes];  // cut to this length
    std::atomic<std::uint32_t> calls;  // by a thread in its frozen section
    std::atomic<std::uint32_t> first_caller;  // RVA in mixwalk_trapped.dll
  };

  std::atomic<Sabotage> sabotage;
  std::atomic<std::uint32_t> imports;  // replaced slots
  std::atomic<std::uint64_t> freezes;  // frozen sections that ended
  std::atomic<std::uint64_t> ended_by_another;  // sections that the supervisor ended, because the thread was overdue
  std::atomic<std::uint64_t> longest_ns;        // of all sections that ended
  std::atomic<std::uint64_t> limit_ns;          // set by the test: a longer section is too long
  std::atomic<std::uint64_t> over_limit;        // number of sections over the limit
  std::atomic<std::uint64_t> sabotages;         // number of forbidden actions that returned
  std::atomic<std::int64_t> heap_bytes;         // that the DLL has allocated by operator new at present
  Import table[kMaxImports];
};

using FreezeTrapPage = SharedPage<FreezeTrapRecord>;  // of one process

}  // namespace mixwalk
