#include "unmanaged/step/redirected.h"

#include <algorithm>
#include <array>

namespace mixwalk {
namespace {

constexpr std::uint32_t kMaxFunctionBytes = 64;  // the routines have 39

// mov rax, [rax + CONTEXT.Rip]; mov [rbp + 0x30], rax
constexpr std::array<std::uint8_t, 11> kStoreRip = {0x48, 0x8B, 0x80, 0xF8, 0, 0, 0, 0x48, 0x89, 0x45, 0x30};
constexpr std::uint8_t kPushRax = 0x50;  // makes room for that Rip

}  // namespace

bool is_redirected(const UnwindMemory& memory, const FunctionEntry& entry, std::uint64_t ip) noexcept {
  const std::uint64_t begin = memory.image_base + entry.begin;
  const std::uint32_t bytes = entry.end - entry.begin;
  std::array<std::uint8_t, kMaxFunctionBytes> code;
  if (bytes < kStoreRip.size() || bytes > code.size() || !memory.code.read(begin, code.data(), bytes)) return false;
  if (code[0] != kPushRax) return false;
  const auto end = code.begin() + bytes;
  const auto store = std::search(code.begin(), end, kStoreRip.begin(), kStoreRip.end());
  return store != end && ip - begin >= static_cast<std::size_t>(store - code.begin()) + kStoreRip.size();
}

}  // namespace mixwalk
