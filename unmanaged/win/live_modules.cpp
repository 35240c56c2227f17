#include "unmanaged/win/live_modules.h"

#include <windows.h>
#include <psapi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "unmanaged/image/ascii_lower.h"
#include "unmanaged/image/exports_name.h"
#include "unmanaged/win/plain_memory.h"
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

// The headers of an image. Nearly all images have them in their first page, which is read at once.
class ImageHeaders {
 public:
  static std::optional<ImageHeaders> read(std::uint64_t base) noexcept {
    ImageHeaders headers;
    headers.base_ = base;
    headers.bytes_ = PlainMemory().read_up_to(base, headers.page_.data(), headers.page_.size());
    const auto dos = headers.at<IMAGE_DOS_HEADER>(0);
    if (!dos || dos->e_magic != IMAGE_DOS_SIGNATURE) return std::nullopt;
    const auto offset = static_cast<std::uint32_t>(dos->e_lfanew);
    const auto nt = headers.at<IMAGE_NT_HEADERS64>(offset);
    if (!nt || nt->Signature != IMAGE_NT_SIGNATURE ||
        nt->OptionalHeader.Magic != IMAGE_NT_OPTIONAL_HDR64_MAGIC) {
      return std::nullopt;
    }
    headers.nt_ = *nt;
    headers.sections_ = offset + offsetof(IMAGE_NT_HEADERS64, OptionalHeader) +
                        nt->FileHeader.SizeOfOptionalHeader;
    return headers;
  }

  const IMAGE_NT_HEADERS64& all() const noexcept { return nt_; }
  const IMAGE_FILE_HEADER& file() const noexcept { return nt_.FileHeader; }
  const IMAGE_OPTIONAL_HEADER64& optional() const noexcept { return nt_.OptionalHeader; }
  const IMAGE_DATA_DIRECTORY& directory(int which) const noexcept {
    return nt_.OptionalHeader.DataDirectory[which];
  }
  // Nothing: there is none of that number.
  std::optional<IMAGE_SECTION_HEADER> section(std::uint32_t number) const noexcept {
    if (number >= nt_.FileHeader.NumberOfSections) return std::nullopt;
    return at<IMAGE_SECTION_HEADER>(sections_ + number * sizeof(IMAGE_SECTION_HEADER));
  }

 private:
  template <class T>
  std::optional<T> at(std::uint32_t offset) const noexcept {
    if (offset > bytes_ || sizeof(T) > bytes_ - offset) {
      return PlainMemory().read_value<T>(base_ + offset);
    }
    T value;
    std::memcpy(&value, page_.data() + offset, sizeof value);
    return value;
  }

  std::uint64_t base_ = 0;
  std::array<std::byte, 4096> page_;
  std::size_t bytes_ = 0;
  IMAGE_NT_HEADERS64 nt_;
  std::uint32_t sections_ = 0;  // where their headers begin
};

// Whether the program has closed or guarded a page that an unwinder may read: of code, or of constants,
// which unwind data is. What the program writes to is its own affair.
bool is_closed(std::uint64_t base, const ImageHeaders& headers) noexcept {
  for (std::uint32_t i = 0; const auto section = headers.section(i); ++i) {
    const DWORD is = section->Characteristics;
    const bool constants = (is & IMAGE_SCN_MEM_READ) != 0 && (is & IMAGE_SCN_MEM_WRITE) == 0;
    if (!constants && (is & IMAGE_SCN_MEM_EXECUTE) == 0) continue;
    const DWORD bytes =
        section->Misc.VirtualSize != 0 ? section->Misc.VirtualSize : section->SizeOfRawData;
    if (plain_bytes(base + section->VirtualAddress, bytes) != bytes) return true;
  }
  return false;
}

bool is_ready_to_run(std::uint64_t base, const ImageHeaders& headers) noexcept {
  const IMAGE_DATA_DIRECTORY& clr = headers.directory(IMAGE_DIRECTORY_ENTRY_COM_DESCRIPTOR);
  if (clr.VirtualAddress == 0) return exports_name(PlainMemory(), base, kCompositeReadyToRun);
  if (clr.Size < sizeof(IMAGE_COR20_HEADER)) return false;
  const auto header = PlainMemory().read_value<IMAGE_COR20_HEADER>(base + clr.VirtualAddress);
  return header && header->ManagedNativeHeader.VirtualAddress != 0;
}

// FNV-1a, eight bytes at a time: two images differ in their time stamps, sizes or directories.
std::uint64_t identity_of(const IMAGE_NT_HEADERS64& headers) noexcept {
  static_assert(sizeof headers % 8 == 0);
  std::uint64_t words[sizeof headers / 8];
  std::memcpy(words, &headers, sizeof headers);
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
  for (const std::uint64_t word : words) hash = (hash ^ word) * 0x100'0000'01B3;
  return hash;
}

// An image of which nothing may be read: where it stands, as the loader knows it.
std::optional<ModuleTable::Entry> closed_module(HMODULE module) {
  MODULEINFO info{};
  if (!K32GetModuleInformation(GetCurrentProcess(), module, &info, sizeof info)) {
    return std::nullopt;
  }
  ModuleTable::Entry entry;
  entry.span.base = reinterpret_cast<std::uint64_t>(module);
  entry.span.size = info.SizeOfImage;
  entry.span.closed = true;
  return entry;
}

std::optional<ModuleTable::Entry> read_module(HMODULE module) {
  const auto base = reinterpret_cast<std::uint64_t>(module);
  const auto headers = ImageHeaders::read(base);
  // Erased headers say nothing. Closed ones are told from those of an image that has gone meanwhile by
  // the loader, which no longer knows the latter.
  if (!headers) return plain_bytes(base, 1) == 0 ? closed_module(module) : std::nullopt;
  ModuleTable::Entry entry;
  entry.span.base = base;
  entry.span.size = headers->optional().SizeOfImage;
  entry.details.timestamp = headers->file().TimeDateStamp;
  entry.details.identity = identity_of(headers->all());
  entry.span.closed = is_closed(base, *headers);
  if (entry.span.closed) return entry;
  const IMAGE_DATA_DIRECTORY& pdata = headers->directory(IMAGE_DIRECTORY_ENTRY_EXCEPTION);
  if (pdata.VirtualAddress < entry.span.size &&
      pdata.Size <= entry.span.size - pdata.VirtualAddress) {
    entry.span.pdata_rva = pdata.VirtualAddress;
    entry.span.pdata_count = pdata.Size / sizeof(RUNTIME_FUNCTION);
  }
  for (std::uint32_t i = 0; const auto section = headers->section(i); ++i) {
    if ((section->Characteristics & IMAGE_SCN_MEM_EXECUTE) == 0) continue;
    const std::uint32_t begin = std::min<std::uint32_t>(section->VirtualAddress, entry.span.size);
    const std::uint32_t bytes = std::max(section->Misc.VirtualSize, section->SizeOfRawData);
    entry.span.add_code({begin, begin + std::min(bytes, entry.span.size - begin)});
  }
  entry.span.has_managed_code = is_ready_to_run(base, *headers);
  return entry;
}

void read_path(ModuleTable::Entry& entry, HMODULE module, std::wstring& room) {
  const DWORD length =
      K32GetModuleFileNameExW(GetCurrentProcess(), module, room.data(), kMaxPathUnits);
  entry.details.path = to_utf8(std::wstring_view(room.data(), std::min(length, kMaxPathUnits)));
  entry.span.lock_risk = lock_risk(entry.details.path);
  // A program that was published as a single file is the runtime as well.
  if (entry.span.lock_risk == LockRisk::none && !entry.span.closed &&
      exports_name(PlainMemory(), entry.span.base, kRuntimeInSingleFile)) {
    entry.span.lock_risk = LockRisk::any;
  }
}

// Folklore: headers of one image and the path of another. Real case: two DLLs that take turns at one
// base, on a busy machine: 2 of 70 whole stacks named code of the second after the first, since the
// headers of the list's entry were those that stood there. Test: torture_test, kind "turns".
std::optional<ModuleTable::Entry> read_of_one_image(HMODULE module, const ImageUnloads* unloads,
                                                    std::wstring& room) {
  const auto base = reinterpret_cast<std::uint64_t>(module);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::uint64_t mark = unloads != nullptr ? unloads->mark() : 0;
    std::optional<ModuleTable::Entry> entry = read_module(module);
    if (!entry) return std::nullopt;
    read_path(*entry, module, room);
    if (unloads == nullptr || !unloads->unloaded_since(base, mark)) return entry;
  }
  return std::nullopt;
}

}  // namespace

ModuleTable read_live_modules(const ImageUnloads* unloads) {
  const std::vector<HMODULE> modules = list_modules();
  std::vector<ModuleTable::Entry> entries;
  entries.reserve(modules.size());
  std::wstring path(kMaxPathUnits, L'\0');
  for (HMODULE module : modules) {
    auto entry = read_of_one_image(module, unloads, path);
    if (entry) entries.push_back(std::move(*entry));
  }
  return ModuleTable(std::move(entries));
}

std::optional<std::uint64_t> live_identity(std::uint64_t base) noexcept {
  if (const auto headers = ImageHeaders::read(base)) return identity_of(headers->all());
  MEMORY_BASIC_INFORMATION memory;
  const bool there = VirtualQuery(reinterpret_cast<const void*>(base), &memory, sizeof memory) != 0 &&
                     memory.State == MEM_COMMIT;
  if (there && plain_bytes(base, 1) == 0) return std::nullopt;
  return 0;
}

}  // namespace mixwalk
