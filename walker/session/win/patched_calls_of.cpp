#include "walker/session/win/patched_calls_of.h"

#include <windows.h>

#include <psapi.h>

#include <string>

#include "unmanaged/image/image_headers.h"
#include "unmanaged/win/plain_memory.h"
#include "unmanaged/win/process_memory.h"
#include "unmanaged/win/utf8.h"
#include "walker/session/win/token.h"
#include "walker/session/win/win_error.h"

namespace mixwalk {
namespace {

Failure unchecked(std::uint32_t process_id, const std::string& why) {
  return {ExitCode::no_access,
          "the system calls of process " + std::to_string(process_id) + " cannot be checked for patches: " + why};
}

std::string image_at(HANDLE process, std::uint64_t address) {
  constexpr DWORD kMaxPath = 32'768;
  MEMORY_BASIC_INFORMATION info;
  if (VirtualQueryEx(process, reinterpret_cast<const void*>(address), &info, sizeof info) == 0 ||
      info.Type != MEM_IMAGE) {
    return {};
  }
  std::wstring path(kMaxPath, L'\0');
  path.resize(GetModuleFileNameExW(process, static_cast<HMODULE>(info.AllocationBase), path.data(), kMaxPath));
  return to_utf8(path);
}

}  // namespace

Outcome<std::vector<PatchedCall>> patched_calls_of(std::uint32_t process_id) {
  const UniqueHandle process = open_process(PROCESS_QUERY_INFORMATION | PROCESS_VM_READ, process_id);
  if (!process) return unchecked(process_id, last_error());
  // ntdll.dll has the same address in all x64 processes, and the stubs have the same addresses as in this one. So the
  // tables of the target's ntdll.dll, which the target may guard, are not read, and only its code is.
  const HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
  const auto base = reinterpret_cast<std::uint64_t>(ntdll);
  const PlainMemory own_memory;
  const ProcessMemory memory(process.get());
  const auto own = ImageHeaders::read(own_memory, base), of_target = ImageHeaders::read(memory, base);
  if (!own || !of_target || own->identity() != of_target->identity()) {
    return unchecked(process_id, "its ntdll.dll is not that of mixwalk.exe");
  }
  return find_patched_calls(
      memory, {.stub_of = [&](const char* name) { return reinterpret_cast<std::uint64_t>(GetProcAddress(ntdll, name)); },
               .image_at = [&](std::uint64_t address) { return image_at(process.get(), address); }});
}

}  // namespace mixwalk
