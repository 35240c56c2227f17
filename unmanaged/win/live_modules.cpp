#include "unmanaged/win/live_modules.h"

#include <windows.h>
#include <psapi.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "unmanaged/image/ascii_lower.h"
#include "unmanaged/win/guarded.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

// The list is read without its lock, so an image that is loaded or unloaded meanwhile can spoil the
// reading (ERROR_PARTIAL_COPY) or make the list longer than the room for it.
constexpr int kAttempts = 16;
constexpr DWORD kMaxPathUnits = 32'768;

std::vector<HMODULE> list_modules() {
  std::vector<HMODULE> modules(512);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    DWORD bytes = 0;
    if (!K32EnumProcessModules(GetCurrentProcess(), modules.data(),
                               static_cast<DWORD>(modules.size() * sizeof(HMODULE)), &bytes)) {
      continue;
    }
    const std::size_t count = bytes / sizeof(HMODULE);
    const bool whole = count <= modules.size();
    modules.resize(whole ? count : count + 64);
    if (whole) return modules;
  }
  return {};
}

// By file name, lower case. What the list does not know holds no lock that the runtime needs, or the
// supervisor must end the freeze.
LockRisk lock_risk(std::string_view path) {
  const std::string name = ascii_lower(path.substr(path.find_last_of('\\') + 1));
  if (name == "ntdll.dll") return LockRisk::below_system_call;
  for (const std::string_view risky : {"coreclr.dll", "clr.dll", "clrjit.dll", "clrgc.dll",
                                       "clrgcexp.dll", "ucrtbase.dll", "msvcrt.dll"}) {
    if (name == risky) return LockRisk::any;
  }
  return LockRisk::none;
}

bool is_ready_to_run(const GuardedReader& memory, std::uint64_t base,
                     const IMAGE_OPTIONAL_HEADER64& optional) {
  const IMAGE_DATA_DIRECTORY& clr = optional.DataDirectory[IMAGE_DIRECTORY_ENTRY_COM_DESCRIPTOR];
  if (clr.VirtualAddress == 0 || clr.Size < sizeof(IMAGE_COR20_HEADER)) return false;
  const auto header = memory.read_value<IMAGE_COR20_HEADER>(base + clr.VirtualAddress);
  return header && header->ManagedNativeHeader.VirtualAddress != 0;
}

std::optional<ModuleTable::Entry> read_module(const GuardedReader& memory, HMODULE module) {
  const auto base = reinterpret_cast<std::uint64_t>(module);
  const auto dos = memory.read_value<IMAGE_DOS_HEADER>(base);
  if (!dos || dos->e_magic != IMAGE_DOS_SIGNATURE) return std::nullopt;
  const auto nt =
      memory.read_value<IMAGE_NT_HEADERS64>(base + static_cast<std::uint32_t>(dos->e_lfanew));
  if (!nt || nt->Signature != IMAGE_NT_SIGNATURE ||
      nt->OptionalHeader.Magic != IMAGE_NT_OPTIONAL_HDR64_MAGIC) {
    return std::nullopt;
  }
  ModuleTable::Entry entry;
  entry.span.base = base;
  entry.span.size = nt->OptionalHeader.SizeOfImage;
  entry.details.timestamp = nt->FileHeader.TimeDateStamp;
  const IMAGE_DATA_DIRECTORY& pdata =
      nt->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_EXCEPTION];
  if (pdata.VirtualAddress < entry.span.size &&
      pdata.Size <= entry.span.size - pdata.VirtualAddress) {
    entry.span.pdata_rva = pdata.VirtualAddress;
    entry.span.pdata_count = pdata.Size / sizeof(RUNTIME_FUNCTION);
  }
  entry.span.has_managed_code = is_ready_to_run(memory, base, nt->OptionalHeader);
  return entry;
}

}  // namespace

ModuleTable read_live_modules() {
  const HANDLE self = GetCurrentProcess();
  const std::vector<HMODULE> modules = list_modules();
  const GuardedReader memory;
  std::vector<ModuleTable::Entry> entries;
  entries.reserve(modules.size());
  std::wstring path(kMaxPathUnits, L'\0');
  for (HMODULE module : modules) {
    std::optional<ModuleTable::Entry> entry = read_module(memory, module);
    if (!entry) continue;
    const DWORD length = K32GetModuleFileNameExW(self, module, path.data(), kMaxPathUnits);
    entry->details.path = to_utf8(std::wstring_view(path.data(), std::min(length, kMaxPathUnits)));
    entry->span.lock_risk = lock_risk(entry->details.path);
    entries.push_back(std::move(*entry));
  }
  return ModuleTable(std::move(entries));
}

}  // namespace mixwalk
