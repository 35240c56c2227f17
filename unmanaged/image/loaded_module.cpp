#include "unmanaged/image/loaded_module.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "unmanaged/ascii_lower.h"
#include "unmanaged/image/exports_name.h"
#include "unmanaged/step/pdata.h"

namespace mixwalk {
namespace {

constexpr std::string_view kReturnTrap = "RtlRaiseExceptionForReturnAddressHijack";
constexpr std::uint32_t kClrHeaderBytes = 72, kManagedNativeHeader = 64;  // IMAGE_COR20_HEADER

// Returns the risk by the image's file name in lower case. An image that is not in the list is assumed to hold no lock
// that the runtime needs; if it does hold one, the supervisor ends the freeze.
LockRisk lock_risk(std::string_view name) {
  if (name == "ntdll.dll") return LockRisk::below_system_call;
  for (const std::string_view risky : {"coreclr.dll", "clr.dll", "clrjit.dll", "clrgc.dll",
                                       "clrgcexp.dll", "ucrtbase.dll", "msvcrt.dll"}) {
    if (name == risky) return LockRisk::any;
  }
  return LockRisk::none;
}

// Threads begin in ntdll's RtlUserThreadStart; fibers in kernel32, kernelbase or ntdll, depending on the version of
// Windows.
bool starts_threads(std::string_view name) {
  return name == "ntdll.dll" || name == "kernel32.dll" || name == "kernelbase.dll";
}

bool is_ready_to_run(const ImageHeaders& headers, const MemoryReader& memory) {
  const ImageHeaders::Directory clr = headers.directory(ImageHeaders::kClrHeader);
  if (clr.rva == 0) return exports_name(memory, headers.base(), kCompositeReadyToRun);
  if (clr.bytes < kClrHeaderBytes) return false;
  const auto native = memory.read_value<std::uint32_t>(headers.base() + clr.rva + kManagedNativeHeader);
  return native && *native != 0;
}

}  // namespace

ModuleTable::Entry loaded_module(const ImageHeaders& headers) {
  ModuleTable::Entry entry;
  entry.span.base = headers.base();
  entry.span.size = headers.size_of_image();
  entry.details.timestamp = headers.timestamp();
  entry.details.identity = headers.identity();
  return entry;
}

void add_code(ModuleTable::Entry& entry, const ImageHeaders& headers, const MemoryReader& memory) {
  const ImageHeaders::Directory pdata = headers.directory(ImageHeaders::kExceptionTable);
  if (pdata.rva < entry.span.size && pdata.bytes <= entry.span.size - pdata.rva) {
    entry.span.pdata_rva = pdata.rva;
    entry.span.pdata_count = pdata.bytes / sizeof(FunctionEntry);
  }
  for (std::uint32_t i = 0; const auto section = headers.section(i); ++i) {
    if (!section->executable()) continue;
    const std::uint32_t begin = std::min(section->rva, entry.span.size);
    const std::uint32_t bytes = std::max(section->virtual_bytes, section->file_bytes);
    entry.span.add_code({begin, begin + std::min(bytes, entry.span.size - begin)});
  }
  entry.span.has_managed_code = is_ready_to_run(headers, memory);
}

void set_path(ModuleTable::Entry& entry, std::string path, const MemoryReader& memory) {
  entry.details.path = std::move(path);
  const std::string_view whole = entry.details.path;
  const std::string name = ascii_lower(whole.substr(whole.find_last_of('\\') + 1));
  entry.span.starts_threads = starts_threads(name);
  entry.span.lock_risk = lock_risk(name);
  if (name == "ntdll.dll" && !entry.span.closed) {
    const auto trap = export_rva(memory, entry.span.base, kReturnTrap);
    if (trap && *trap < entry.span.size) entry.span.return_trap = *trap;
  }
  // A program that was published as a single file contains the runtime.
  if (entry.span.lock_risk == LockRisk::none && !entry.span.closed &&
      exports_name(memory, entry.span.base, kRuntimeInSingleFile)) {
    entry.span.lock_risk = LockRisk::any;
  }
}

}  // namespace mixwalk
