#include "walker/clr/jitted_code.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace mixwalk {
namespace {

// The most pointers in the header, up to the MethodDesc. The known versions have three or four.
constexpr std::size_t kMaxHeaderWords = 8;
// There is one entry for each exception handler, and one for each part of a long method. The largest methods of
// generated code have some thousand.
constexpr std::uint32_t kMaxEntries = 16'384;

// The address of the number of entries. Returns nothing if this is not the method's header.
std::optional<std::uint64_t> entry_count_address(const MemoryReader& memory, const ClrCode& code,
                                                 std::uint64_t header) noexcept {
  std::array<std::uint64_t, kMaxHeaderWords> words{};
  const std::size_t known =
      memory.read_up_to(header, words.data(), sizeof words) / sizeof(std::uint64_t);
  const auto end = words.begin() + known;
  const auto method = std::find(words.begin(), end, code.method);
  if (method == end || std::find(words.begin(), method, code.gc_info) == method) return std::nullopt;
  return header + 8 * static_cast<std::uint64_t>(method - words.begin() + 1);
}

}  // namespace

std::optional<JittedFunction> find_jitted_function(const MemoryReader& memory, const ClrCode& code,
                                                   std::uint64_t ip) noexcept {
  if (!code.jitted || code.method == 0 || code.gc_info == 0 || code.start < 8) return std::nullopt;
  const auto header = memory.read_value<std::uint64_t>(code.start - 8);
  const auto at = header && *header != 0 ? entry_count_address(memory, code, *header) : std::nullopt;
  const auto count = at ? memory.read_value<std::uint32_t>(*at) : std::nullopt;
  if (!count || *count == 0 || *count > kMaxEntries) return std::nullopt;
  const std::uint64_t entries = *at + sizeof(std::uint32_t);
  const auto first = memory.read_value<FunctionEntry>(entries);
  if (!first || first->begin > code.start) return std::nullopt;
  const std::uint64_t base = code.start - first->begin;
  if (ip < base || ip - base > UINT32_MAX) return std::nullopt;
  const auto rva = static_cast<std::uint32_t>(ip - base);
  for (std::uint32_t i = 0; i < *count; ++i) {
    const auto entry = memory.read_value<FunctionEntry>(entries + sizeof(FunctionEntry) * std::uint64_t{i});
    if (!entry || entry->begin >= entry->end) return std::nullopt;  // an unused entry
    if (entry->contains(rva)) return JittedFunction{base, *entry};
  }
  return std::nullopt;
}

}  // namespace mixwalk
