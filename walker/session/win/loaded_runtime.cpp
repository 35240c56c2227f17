#include "walker/session/win/loaded_runtime.h"

#include <windows.h>
#include <winternl.h>

#include "unmanaged/ascii_lower.h"
#include "unmanaged/image/debug_directory.h"
#include "unmanaged/image/exports_name.h"
#include "unmanaged/win/loader_list.h"
#include "unmanaged/win/remote_memory.h"
#include "walker/session/win/token.h"

namespace mixwalk {

LoadedRuntime loaded_runtime(const MemoryReader& memory, std::uint64_t peb, const std::function<void()>& again) {
  const std::vector<ListedImage> images = read_loader_list(memory, peb, again);
  if (images.empty()) return LoadedRuntime::unknown;
  // The program's image comes first.
  if (exports_name(memory, images.front().base, kRuntimeInSingleFile)) return LoadedRuntime::core_in_program;
  LoadedRuntime found =
      exports_name(memory, images.front().base, kNativeAotRuntime) ? LoadedRuntime::native_aot : LoadedRuntime::none;
  for (const ListedImage& image : images) {
    const std::string name = ascii_lower(file_name(image.path));
    if (name == "coreclr.dll") return LoadedRuntime::core;
    if (name == "clr.dll") found = LoadedRuntime::framework;
    if (found == LoadedRuntime::none && (name == "hostfxr.dll" || name == "hostpolicy.dll")) {
      found = LoadedRuntime::host_only;
    }
  }
  return found;
}

LoadedRuntime loaded_runtime(std::uint32_t process_id) {
  const UniqueHandle process = open_process(PROCESS_QUERY_INFORMATION | PROCESS_VM_READ, process_id);
  PROCESS_BASIC_INFORMATION info{};
  if (!process ||
      NtQueryInformationProcess(process.get(), ProcessBasicInformation, &info, sizeof info, nullptr) < 0) {
    return LoadedRuntime::unknown;
  }
  RemoteMemory memory(process.get());
  return loaded_runtime(memory, reinterpret_cast<std::uint64_t>(info.PebBaseAddress), [&memory] { memory.drop(); });
}

}  // namespace mixwalk
