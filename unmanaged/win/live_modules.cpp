#include "unmanaged/win/live_modules.h"

#include <windows.h>

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
#include "unmanaged/win/loader_list.h"
#include "unmanaged/win/plain_memory.h"

namespace mixwalk {
namespace {

constexpr int kAttempts = 16;

// By the image's file name in lower case. What the list does not know holds no lock that the runtime
// needs, or the supervisor must end the freeze.
LockRisk lock_risk(std::string_view name) {
  if (name == "ntdll.dll") return LockRisk::below_system_call;
  for (const std::string_view risky : {"coreclr.dll", "clr.dll", "clrjit.dll", "clrgc.dll",
                                       "clrgcexp.dll", "ucrtbase.dll", "msvcrt.dll"}) {
    if (name == risky) return LockRisk::any;
  }
  return LockRisk::none;
}

// Threads begin in ntdll's RtlUserThreadStart; fibers in kernel32, kernelbase or ntdll, as the version
// of Windows has it.
bool starts_threads(std::string_view name) {
  return name == "ntdll.dll" || name == "kernel32.dll" || name == "kernelbase.dll";
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

// An image of which nothing may be read: where it stands, as the system knows it.
std::optional<ModuleTable::Entry> closed_module(std::uint64_t base) {
  const auto first = reinterpret_cast<const void*>(base);
  std::uint64_t end = base;
  MEMORY_BASIC_INFORMATION region;
  while (VirtualQuery(reinterpret_cast<const void*>(end), &region, sizeof region) != 0 &&
         region.AllocationBase == first && region.Type == MEM_IMAGE) {
    end += region.RegionSize;
  }
  if (end == base || end - base > UINT32_MAX) return std::nullopt;
  ModuleTable::Entry entry;
  entry.span.base = base;
  entry.span.size = static_cast<std::uint32_t>(end - base);
  entry.span.closed = true;
  return entry;
}

// Nothing: no image stands there, or one with erased headers, which say nothing.
std::optional<ModuleTable::Entry> read_module(std::uint64_t base) {
  const auto headers = ImageHeaders::read(base);
  if (!headers) return plain_bytes(base, 1) == 0 ? closed_module(base) : std::nullopt;
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

void set_path(ModuleTable::Entry& entry, std::string path) {
  entry.details.path = std::move(path);
  const std::string_view whole = entry.details.path;
  const std::string name = ascii_lower(whole.substr(whole.find_last_of('\\') + 1));
  entry.span.starts_threads = starts_threads(name);
  entry.span.lock_risk = lock_risk(name);
  // A program that was published as a single file is the runtime as well.
  if (entry.span.lock_risk == LockRisk::none && !entry.span.closed &&
      exports_name(PlainMemory(), entry.span.base, kRuntimeInSingleFile)) {
    entry.span.lock_risk = LockRisk::any;
  }
}

}  // namespace

// Folklore: headers of one image and the path of another. Real case: two DLLs that take turns at one
// base, on a busy machine: 2 of 70 whole stacks named code of the second after the first, since the
// headers of the list's entry were those that stood there. Such an image is looked up in a new list.
// Test: torture_test, kind "turns".
ModuleTable read_live_modules(const ImageUnloads* unloads) {
  const auto mark = [unloads] { return unloads != nullptr ? unloads->mark() : 0; };
  std::uint64_t since = mark();
  std::vector<LoadedImage> images = read_loader_list();
  std::vector<ModuleTable::Entry> entries;
  entries.reserve(images.size());
  for (int attempt = 0; attempt < kAttempts && !images.empty(); ++attempt) {
    std::vector<std::uint64_t> exchanged;
    for (LoadedImage& image : images) {
      auto entry = read_module(image.base);
      if (!entry) continue;
      set_path(*entry, std::move(image.path));
      if (unloads != nullptr && unloads->unloaded_since(image.base, since)) {
        exchanged.push_back(image.base);
      } else {
        entries.push_back(std::move(*entry));
      }
    }
    if (exchanged.empty()) break;
    since = mark();
    images = read_loader_list();
    std::erase_if(images, [&](const LoadedImage& image) {
      return std::ranges::find(exchanged, image.base) == exchanged.end();
    });
  }
  return ModuleTable(std::move(entries));
}

bool has_managed_header(std::uint64_t base) noexcept {
  const auto headers = ImageHeaders::read(base);
  return headers && headers->directory(IMAGE_DIRECTORY_ENTRY_COM_DESCRIPTOR).VirtualAddress != 0;
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
