#include "unmanaged/win/loader_list.h"

#include <windows.h>
#include <winternl.h>

#include <algorithm>
#include <cstddef>
#include <optional>

#include "unmanaged/win/plain_memory.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

constexpr int kAttempts = 16;
constexpr std::size_t kMaxImages = 65'536;
constexpr std::size_t kMaxPathUnits = 32'767;
// The limit in bytes for all paths together, enough for some 100,000 ordinary paths.
constexpr std::size_t kMaxPathBytes = 16 << 20;

std::uint64_t address_of(const void* memory) noexcept {
  return reinterpret_cast<std::uint64_t>(memory);
}

std::optional<std::string> read_text(const MemoryReader& memory, const UNICODE_STRING& text) {
  std::wstring units(std::min<std::size_t>(text.Length / sizeof(wchar_t), kMaxPathUnits), L'\0');
  if (!memory.read(address_of(text.Buffer), units.data(), units.size() * sizeof(wchar_t))) {
    return std::nullopt;
  }
  return to_utf8(units);
}

}  // namespace

ListReading read_image_list(const MemoryReader& memory, std::uint64_t head) {
  ListReading reading;
  std::size_t path_bytes = 0;
  const auto first = memory.read_value<LIST_ENTRY>(head);
  if (!first) return reading;
  std::uint64_t before = head;
  std::uint64_t at = address_of(first->Flink);
  while (at != head && reading.images.size() < kMaxImages) {
    const auto entry = memory.read_value<LDR_DATA_TABLE_ENTRY>(
        at - offsetof(LDR_DATA_TABLE_ENTRY, InMemoryOrderLinks));
    if (!entry || address_of(entry->InMemoryOrderLinks.Blink) != before) return reading;
    auto path = read_text(memory, entry->FullDllName);
    if (!path) return reading;
    path_bytes += path->size();
    if (path_bytes > kMaxPathBytes) return reading;
    reading.images.push_back({address_of(entry->DllBase), std::move(*path)});
    before = at;
    at = address_of(entry->InMemoryOrderLinks.Flink);
  }
  reading.whole = at == head;
  return reading;
}

std::vector<ListedImage> read_loader_list(const MemoryReader& memory, std::uint64_t peb,
                                          const std::function<void()>& again) {
  const auto loader = memory.read_value<std::uint64_t>(peb + offsetof(PEB, Ldr));
  if (!loader) return {};
  const std::uint64_t head = *loader + offsetof(PEB_LDR_DATA, InMemoryOrderModuleList);
  ListReading longest;
  for (int attempt = 0; attempt < kAttempts && !longest.whole; ++attempt) {
    if (attempt != 0 && again) again();
    ListReading reading = read_image_list(memory, head);
    if (reading.images.size() == kMaxImages) return std::move(reading.images);  // a list of the loader is never so long
    if (reading.whole || reading.images.size() > longest.images.size()) longest = std::move(reading);
  }
  return std::move(longest.images);
}

std::vector<ListedImage> read_loader_list() {
  PROCESS_BASIC_INFORMATION process{};
  NtQueryInformationProcess(GetCurrentProcess(), ProcessBasicInformation, &process, sizeof process,
                            nullptr);
  return read_loader_list(PlainMemory(), address_of(process.PebBaseAddress), {});
}

}  // namespace mixwalk
