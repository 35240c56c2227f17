#include "walker/session/win/patched_calls_of.h"

#include <windows.h>
#include <winternl.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "unmanaged/image/image_headers.h"
#include "unmanaged/win/loader_list.h"
#include "unmanaged/win/plain_memory.h"
#include "unmanaged/win/remote_memory.h"
#include "walker/session/win/token.h"
#include "walker/session/win/win_error.h"

namespace mixwalk {
namespace {

Failure unchecked(std::uint32_t process_id, const std::string& why) {
  return {ExitCode::no_access,
          "the system calls of process " + std::to_string(process_id) + " cannot be checked for patches: " + why};
}

// The images of the process, by its own list.
//
// Folklore: GetModuleFileNameExW follows the list in the target's memory until it comes back to its begin. Situation: a
// target whose list is circular without its begin. Real case: `doctor` and `dump` never ended, and neither did the
// thread that undoes late suspensions, which checks the system calls again. Remedy: read_loader_list(), which has
// limits. Test: session_win_test, PatchedCallsOf.
std::vector<ListedImage> images_of(HANDLE process, RemoteMemory& memory) {
  PROCESS_BASIC_INFORMATION info{};
  if (NtQueryInformationProcess(process, ProcessBasicInformation, &info, sizeof info, nullptr) < 0) return {};
  return read_loader_list(memory, reinterpret_cast<std::uint64_t>(info.PebBaseAddress), [&memory] { memory.drop(); });
}

// `images` is filled at the first question.
std::string image_at(HANDLE process, std::uint64_t address, RemoteMemory& memory,
                     std::optional<std::vector<ListedImage>>& images) {
  MEMORY_BASIC_INFORMATION info;
  if (VirtualQueryEx(process, reinterpret_cast<const void*>(address), &info, sizeof info) == 0 ||
      info.Type != MEM_IMAGE) {
    return {};
  }
  if (!images) images = images_of(process, memory);
  const auto base = reinterpret_cast<std::uint64_t>(info.AllocationBase);
  const auto found = std::ranges::find(*images, base, &ListedImage::base);
  return found != images->end() ? found->path : std::string();
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
  RemoteMemory memory(process.get());  // a patch may lead to a guard page, whose guard a plain read would remove
  std::optional<std::vector<ListedImage>> images;
  const auto own = ImageHeaders::read(own_memory, base), of_target = ImageHeaders::read(memory, base);
  if (!own || !of_target || own->identity() != of_target->identity()) {
    return unchecked(process_id, "its ntdll.dll is not that of mixwalk.exe");
  }
  const CallPlaces places{
      .stub_of = [&](const char* name) { return reinterpret_cast<std::uint64_t>(GetProcAddress(ntdll, name)); },
      .image_at = [&](std::uint64_t address) { return image_at(process.get(), address, memory, images); }};
  return find_patched_calls(memory, places);
}

}  // namespace mixwalk
