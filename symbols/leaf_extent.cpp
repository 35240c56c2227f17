#include "symbols/leaf_extent.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace mixwalk {
namespace {

// In bytes. Real leaf functions are far smaller. A look-up reads no more than this.
constexpr std::uint32_t kMaxLeafBytes = 4096;

constexpr int kAny = -1;

// Folklore: a thread that waits in the kernel is in a system call stub of ntdll or win32u. These stubs have no unwind
// data, and do not end with their first return, because the slow way into the kernel follows the return in the same
// stub. The stubs are recognised by all of their bytes: mov r10, rcx; mov eax, number; …
constexpr std::array<int, 8> kSystemCall = {0x4C, 0x8B, 0xD1, 0xB8, kAny, kAny, kAny, kAny};
// test byte [0x7ffe0308], 1; jne; syscall; ret; and in Windows 10 and later also: int 0x2e; ret.
constexpr std::array<int, 24> kWindowsStub = {0x4C, 0x8B, 0xD1, 0xB8, kAny, kAny, kAny, kAny,
                                              0xF6, 0x04, 0x25, 0x08, 0x03, 0xFE, 0x7F, 0x01,
                                              0x75, 0x03, 0x0F, 0x05, 0xC3, 0xCD, 0x2E, 0xC3};
// Wine 8 has instead: jmp over a ret; call [0x7ffe1000]; ret.
constexpr std::array<int, 32> kWineStub = {
    0x4C, 0x8B, 0xD1, 0xB8, kAny, kAny, kAny, kAny, 0xF6, 0x04, 0x25, 0x08, 0x03, 0xFE, 0x7F, 0x01,
    0x75, 0x03, 0x0F, 0x05, 0xC3, 0xEB, 0x01, 0xC3, 0xFF, 0x14, 0x25, 0x00, 0x10, 0xFE, 0x7F, 0xC3};

bool starts_with(std::span<const std::byte> code, std::span<const int> pattern) noexcept {
  return code.size() >= pattern.size() &&
         std::equal(pattern.begin(), pattern.end(), code.begin(), [](int want, std::byte have) {
           return want == kAny || want == static_cast<int>(have);
         });
}

// Opcodes that end a function, or call one: returns; call and jumps; int3, int n, int1, hlt.
constexpr std::array<std::uint8_t, 12> kEnds = {0xC2, 0xC3, 0xCA, 0xCB, 0xCF, 0xE8,
                                                0xE9, 0xEB, 0xCC, 0xCD, 0xF1, 0xF4};
// Opcodes after 0x0F that do the same: ud2, ud1, ud0, sysret, sysexit.
constexpr std::array<std::uint8_t, 5> kEndsAfter0F = {0x0B, 0xB9, 0xFF, 0x07, 0x35};

bool contains(std::span<const std::uint8_t> opcodes, std::uint8_t opcode) noexcept {
  return std::find(opcodes.begin(), opcodes.end(), opcode) != opcodes.end();
}

// Whether an instruction that ends a function, or calls one, may start with these two bytes.
bool may_end(std::uint8_t first, std::uint8_t second) noexcept {
  const unsigned group = second >> 3 & 7;  // of 0xFF: 2 to 5 are calls and jumps through memory
  return contains(kEnds, first) || (first == 0x0F && contains(kEndsAfter0F, second)) ||
         (first == 0xFF && group >= 2 && group <= 5);
}

}  // namespace

std::size_t leaf_extent(std::span<const std::byte> code) noexcept {
  if (starts_with(code, kWindowsStub)) return kWindowsStub.size();
  if (starts_with(code, kWineStub)) return kWineStub.size();
  // In any other system call stub (Windows 8.1), the bytes of the number are not checked, because they are not
  // instructions.
  std::size_t at = starts_with(code, kSystemCall) ? kSystemCall.size() : 0;
  for (; at < code.size(); ++at) {
    // The last byte is judged alone, because the byte after it was not given and may have any value.
    const bool last = at + 1 == code.size();
    if (last ||
        may_end(static_cast<std::uint8_t>(code[at]), static_cast<std::uint8_t>(code[at + 1]))) {
      return at + 1;
    }
  }
  return at;
}

std::uint32_t leaf_bytes(const PeImage& image, std::uint32_t begin, std::uint32_t most) noexcept {
  const PeSection* const section = image.section_at(begin);
  if (section == nullptr || begin - section->rva >= section->file_bytes) return 0;
  std::uint32_t room = std::min({most, kMaxLeafBytes, section->file_bytes - (begin - section->rva)});
  if (const PeImage::Function* const next = image.function_after(begin)) {
    room = std::min(room, next->begin - begin);
  }
  const auto code = image.bytes_at(begin, room);
  return code ? static_cast<std::uint32_t>(leaf_extent(*code)) : 0;
}

}  // namespace mixwalk
