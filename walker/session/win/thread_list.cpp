#include "walker/session/win/thread_list.h"

#include <tlhelp32.h>

#include <algorithm>
#include <atomic>

#include "unmanaged/win/unique_handle.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {

std::optional<std::vector<std::uint32_t>> list_threads() {
  std::vector<std::uint32_t> threads;
  const UniqueHandle snapshot(CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0));
  // Not an empty list: a dump of no threads would pass for one of a program that has none.
  if (!snapshot) return std::nullopt;
  const DWORD process = GetCurrentProcessId();
  THREADENTRY32 entry{.dwSize = sizeof entry};
  for (BOOL more = Thread32First(snapshot.get(), &entry); more;
       more = Thread32Next(snapshot.get(), &entry)) {
    if (entry.th32OwnerProcessID == process) threads.push_back(entry.th32ThreadID);
  }
  if (threads.empty()) return std::nullopt;  // this thread at least is there
  std::sort(threads.begin(), threads.end());
  return threads;
}

namespace {

using GetThreadDescription = HRESULT(WINAPI*)(HANDLE, PWSTR*);

// Null: this Windows has no such function.
//
// Folklore: a static local variable that is initialised at run time ends the program without memory.
// Its guard (__cxa_guard_acquire) calls pthread_once of winpthreads, which allocates state for the
// calling thread and touches it, or calls abort(), where that fails. So: a constant, set later. Two
// threads may both set it, to the same. (Tests: starved_test; no_winpthreads looks for such guards.)
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
