#include "walker/profiler/thread_list.h"

#include <tlhelp32.h>

#include <algorithm>

#include "unmanaged/win/unique_handle.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {

std::vector<std::uint32_t> list_threads() {
  std::vector<std::uint32_t> threads;
  const UniqueHandle snapshot(CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0));
  if (!snapshot) return threads;
  const DWORD process = GetCurrentProcessId();
  THREADENTRY32 entry{.dwSize = sizeof entry};
  for (BOOL more = Thread32First(snapshot.get(), &entry); more;
       more = Thread32Next(snapshot.get(), &entry)) {
    if (entry.th32OwnerProcessID == process) threads.push_back(entry.th32ThreadID);
  }
  std::sort(threads.begin(), threads.end());
  return threads;
}

std::string thread_description(HANDLE thread) {
  using GetThreadDescription = HRESULT(WINAPI*)(HANDLE, PWSTR*);
  static const auto get = reinterpret_cast<GetThreadDescription>(reinterpret_cast<void*>(
      GetProcAddress(GetModuleHandleW(L"kernelbase.dll"), "GetThreadDescription")));
  PWSTR text = nullptr;
  if (get == nullptr || FAILED(get(thread, &text)) || text == nullptr) return {};
  std::string description = to_utf8(text);
  LocalFree(text);
  return description;
}

}  // namespace mixwalk
