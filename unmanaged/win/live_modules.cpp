#include "unmanaged/win/live_modules.h"

#include <windows.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "unmanaged/image/image_headers.h"
#include "unmanaged/image/loaded_module.h"
#include "unmanaged/win/loader_list.h"
#include "unmanaged/win/plain_memory.h"

namespace mixwalk {
namespace {

constexpr int kAttempts = 16;

// Finds the pages that the program has closed or guarded and that an unwinder may read: those of code, and of
// constants, since unwind data is constant. Pages that the program writes to do not matter here. An image is closed if
// it has such pages in its code or its .pdata, or more of them than a ModuleSpan can list.
void find_shut_pages(ModuleSpan& span, const ImageHeaders& headers) noexcept {
  const ImageHeaders::Directory pdata = headers.directory(ImageHeaders::kExceptionTable);
  for (std::uint32_t i = 0; const auto section = headers.section(i); ++i) {
    const bool constants = section->readable() && !section->writable();
    if (!constants && !section->executable()) continue;
    const std::uint32_t bytes = section->virtual_bytes != 0 ? section->virtual_bytes : section->file_bytes;
    const std::uint64_t begin = span.base + section->rva;
    for (std::size_t at = plain_bytes(begin, bytes); at < bytes; at += plain_bytes(begin + at, bytes - at)) {
      CodeRange shut{section->rva + static_cast<std::uint32_t>(at)};
      // The pages may have been opened between the two questions.
      at += std::max<std::size_t>(closed_bytes(begin + at, bytes - at), 1);
      shut.end = section->rva + static_cast<std::uint32_t>(at);
      const bool has_pdata = shut.begin < std::uint64_t{pdata.rva} + pdata.bytes && pdata.rva < shut.end;
      if (section->executable() || has_pdata || !span.add_shut(shut)) {
        span.closed = true;
        return;
      }
    }
  }
}

// Returns the entry of an image of which nothing may be read: only its address and size, as the system knows them.
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

// Returns nothing if no image is loaded there, or if the image's headers were erased and so say nothing.
std::optional<ModuleTable::Entry> read_module(std::uint64_t base) {
  const PlainMemory memory;
  const auto headers = ImageHeaders::read(memory, base);
  if (!headers) return plain_bytes(base, 1) == 0 ? closed_module(base) : std::nullopt;
  ModuleTable::Entry entry = loaded_module(*headers);
  find_shut_pages(entry.span, *headers);
  if (!entry.span.closed) add_code(entry, *headers, memory);
  return entry;
}

}  // namespace

// Folklore: an entry had the headers of one image and the path of another. Real case: two DLLs that take turns at one
// base, on a busy machine: 2 of 70 whole stacks named code of the second DLL after the first, since the headers of the
// list's entry were those that were loaded at that moment. Such an image is looked up in a new list. Test:
// torture_test, kind "turns".
ModuleTable read_live_modules(const ImageUnloads* unloads) {
  const auto mark = [unloads] { return unloads != nullptr ? unloads->mark() : 0; };
  std::uint64_t since = mark();
  std::vector<ListedImage> images = read_loader_list();
  std::vector<ModuleTable::Entry> entries;
  entries.reserve(images.size());
  for (int attempt = 0; attempt < kAttempts && !images.empty(); ++attempt) {
    std::vector<std::uint64_t> exchanged;
    for (ListedImage& image : images) {
      auto entry = read_module(image.base);
      if (!entry) continue;
      set_path(*entry, std::move(image.path), PlainMemory());
      if (unloads != nullptr && unloads->unloaded_since(image.base, since)) {
        exchanged.push_back(image.base);
      } else {
        entries.push_back(std::move(*entry));
      }
    }
    if (exchanged.empty()) break;
    since = mark();
    images = read_loader_list();
    std::erase_if(images, [&](const ListedImage& image) {
      return std::ranges::find(exchanged, image.base) == exchanged.end();
    });
  }
  return ModuleTable(std::move(entries));
}

bool has_managed_header(std::uint64_t base) noexcept {
  const PlainMemory memory;
  const auto headers = ImageHeaders::read(memory, base);
  return headers && headers->directory(ImageHeaders::kClrHeader).rva != 0;
}

std::optional<std::uint64_t> live_identity(std::uint64_t base) noexcept {
  const PlainMemory plain;
  if (const auto headers = ImageHeaders::read(plain, base)) return headers->identity();
  MEMORY_BASIC_INFORMATION memory;
  const bool there = VirtualQuery(reinterpret_cast<const void*>(base), &memory, sizeof memory) != 0 &&
                     memory.State == MEM_COMMIT;
  if (there && plain_bytes(base, 1) == 0) return std::nullopt;
  return 0;
}

}  // namespace mixwalk
