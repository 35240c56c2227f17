#include "walker/session/win/thread_list.h"

#include <winternl.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "unmanaged/win/utf8.h"

namespace mixwalk {

namespace {

// The first size of the buffer for the system's list: some 80 bytes per thread and 300 per process, for all processes
// together. If the list is longer, the system says so.
constexpr ULONG kListBytes = 256 << 10;
// Room for processes and threads that begin between two calls.
constexpr ULONG kMoreBytes = 64 << 10;
constexpr int kAttempts = 8;
constexpr NTSTATUS kInfoLengthMismatch = static_cast<NTSTATUS>(0xC000'0004);

// Each process is followed by its threads. Source: Microsoft Learn, "NtQuerySystemInformation".
static_assert(sizeof(SYSTEM_PROCESS_INFORMATION) == 0x100 && sizeof(SYSTEM_THREAD_INFORMATION) == 0x50);

// SYSTEM_THREAD_INFORMATION::Reserved1 (ntexapi.h of phnt). GetThreadTimes gives the same.
enum ThreadTime : std::size_t { kKernelTime, kUserTime, kCreateTime };

DWORD id_of(HANDLE id) noexcept { return static_cast<DWORD>(reinterpret_cast<std::uintptr_t>(id)); }

// All processes and threads of the system, as SYSTEM_PROCESS_INFORMATION. Returns null if memory is missing, or if the
// system does not give the list.
std::unique_ptr<std::byte[]> read_processes() noexcept {
  ULONG bytes = kListBytes;
  for (int i = 0; i < kAttempts; ++i) {
    std::unique_ptr<std::byte[]> list(new (std::nothrow) std::byte[bytes]);
    if (list == nullptr) return nullptr;
    ULONG wanted = 0;
    const NTSTATUS status =
        NtQuerySystemInformation(SystemProcessInformation, list.get(), bytes, &wanted);
    if (status >= 0) return list;
    if (status != kInfoLengthMismatch) return nullptr;
    bytes = std::max(bytes, wanted) + kMoreBytes;
  }
  return nullptr;
}

}  // namespace

// Folklore: CreateToolhelp32Snapshot asks the system for the same list, but is not used. Situation: Wine 8's
// Thread32Next maps the whole list and unmaps it again for every thread of every process. For each thread, this takes
// six requests to the server. Measured: it takes 15.4 ms for 27 of our threads among 90, and this function takes 1.4
// ms. A recording lists its threads four times a second.
std::optional<std::vector<ListedThread>> list_thread_times(std::uint32_t process_id) {
  const std::unique_ptr<std::byte[]> list = read_processes();
  // An empty list is not returned, because a dump without threads would look like that of a program that has none.
  if (list == nullptr) return std::nullopt;
  std::vector<ListedThread> threads;
  for (const std::byte* at = list.get();;) {
    const auto& process = *reinterpret_cast<const SYSTEM_PROCESS_INFORMATION*>(at);
    if (id_of(process.UniqueProcessId) == process_id) {
      const auto* const first = reinterpret_cast<const SYSTEM_THREAD_INFORMATION*>(&process + 1);
      for (const auto& thread : std::span(first, process.NumberOfThreads)) {
        const auto ticks = [&](ThreadTime time) { return static_cast<std::uint64_t>(thread.Reserved1[time].QuadPart); };
        threads.push_back({.id = id_of(thread.ClientId.UniqueThread),
                           .created = ticks(kCreateTime),
                           .cpu = ticks(kKernelTime) + ticks(kUserTime)});
      }
      break;
    }
    if (process.NextEntryOffset == 0) break;
    at += process.NextEntryOffset;
  }
  if (threads.empty()) return std::nullopt;  // a process that runs has at least one
  std::ranges::sort(threads, {}, &ListedThread::id);
  return threads;
}

std::optional<std::vector<std::uint32_t>> list_threads(std::uint32_t process_id) {
  const auto listed = list_thread_times(process_id);
  if (!listed) return std::nullopt;
  std::vector<std::uint32_t> ids(listed->size());
  std::ranges::transform(*listed, ids.begin(), &ListedThread::id);
  return ids;
}

std::optional<std::vector<std::uint32_t>> list_threads() { return list_threads(GetCurrentProcessId()); }

namespace {

using GetThreadDescription = HRESULT(WINAPI*)(HANDLE, PWSTR*);

// Returns null if this Windows has no such function.
//
// Folklore: a static local variable that is initialised at run time ends the program if memory is missing. Its guard
// (__cxa_guard_acquire) calls pthread_once of winpthreads, which allocates state for the calling thread. If the
// allocation fails, it uses the state nevertheless, or calls abort(). Remedy: a variable that is initialised at compile
// time and set later. Two threads may both set it, to the same value. (Tests: starved_test; no_winpthreads looks for
// such guards.)
GetThreadDescription get_thread_description() noexcept {
  constinit static std::atomic<GetThreadDescription> known{nullptr};
  GetThreadDescription get = known;
  if (get == nullptr) {
    get = reinterpret_cast<GetThreadDescription>(reinterpret_cast<void*>(
        GetProcAddress(GetModuleHandleW(L"kernelbase.dll"), "GetThreadDescription")));
    known = get;
  }
  return get;
}

}  // namespace

std::string thread_description(HANDLE thread) {
  const GetThreadDescription get = get_thread_description();
  PWSTR text = nullptr;
  if (get == nullptr || FAILED(get(thread, &text)) || text == nullptr) return {};
  std::string description = to_utf8(text);
  LocalFree(text);
  return description;
}

}  // namespace mixwalk
