#include "walker/outside/module_headers.h"

#include <algorithm>

namespace mixwalk {
namespace {

// Offsets, of PE32+ (Microsoft, "PE Format").
constexpr std::uint64_t kNtHeadersAt = 0x3C, kTimestampAt = 8, kMagicAt = 24, kSizeOfImageAt = 24 + 56;
constexpr std::uint16_t kMz = 0x5A4D, kPe32Plus = 0x20B;
constexpr std::uint32_t kSignature = 0x4550;  // "PE"

}  // namespace

std::optional<Module> read_module_headers(const MemoryReader& memory, std::uint64_t base) {
  if (memory.read_value<std::uint16_t>(base) != kMz) return std::nullopt;
  const auto headers = memory.read_value<std::uint32_t>(base + kNtHeadersAt);
  if (!headers || memory.read_value<std::uint32_t>(base + *headers) != kSignature ||
      memory.read_value<std::uint16_t>(base + *headers + kMagicAt) != kPe32Plus) {
    return std::nullopt;
  }
  const auto timestamp = memory.read_value<std::uint32_t>(base + *headers + kTimestampAt);
  const auto size = memory.read_value<std::uint32_t>(base + *headers + kSizeOfImageAt);
  if (!timestamp || !size || *size == 0 || base + *size < base) return std::nullopt;
  return Module{.base = base, .size = *size, .timestamp = *timestamp};
}

void sort_disjoint(std::vector<Module>& modules) {
  std::ranges::stable_sort(modules, {}, &Module::base);
  std::uint64_t end = 0;
  std::erase_if(modules, [&](const Module& module) {
    if (module.base < end) return true;
    end = module.base + module.size;
    return false;
  });
}

}  // namespace mixwalk
