#include "walker/session/win/loaded_runtime.h"

#include <windows.h>
#include <winternl.h>

#include <algorithm>

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

namespace {

// Calls `use` with the memory of the process and the address of its environment block. Returns `otherwise` if the
// process cannot be read.
template <class Result, class Use>
Result read_process(std::uint32_t process_id, Result otherwise, const Use& use) {
  const UniqueHandle process = open_process(PROCESS_QUERY_INFORMATION | PROCESS_VM_READ, process_id);
  PROCESS_BASIC_INFORMATION info{};
  if (!process ||
      NtQueryInformationProcess(process.get(), ProcessBasicInformation, &info, sizeof info, nullptr) < 0) {
    return otherwise;
  }
  RemoteMemory memory(process.get());
  return use(memory, reinterpret_cast<std::uint64_t>(info.PebBaseAddress), [&memory] { memory.drop(); });
}

}  // namespace

LoadedRuntime loaded_runtime(std::uint32_t process_id) {
  return read_process(process_id, LoadedRuntime::unknown,
                      [](const MemoryReader& memory, std::uint64_t peb, const std::function<void()>& again) {
                        return loaded_runtime(memory, peb, again);
                      });
}

bool has_loaded(std::uint32_t process_id, std::string_view image_name) {
  return read_process(process_id, false,
                      [&](const MemoryReader& memory, std::uint64_t peb, const std::function<void()>& again) {
                        return std::ranges::any_of(read_loader_list(memory, peb, again), [&](const ListedImage& image) {
                          return ascii_lower(file_name(image.path)) == image_name;
                        });
                      });
}

}  // namespace mixwalk
