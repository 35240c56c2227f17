#include "unmanaged/step/system_call.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace mixwalk {
namespace {

constexpr std::array<std::uint8_t, 2> kSyscall = {0x0F, 0x05};
constexpr std::array<std::uint8_t, 2> kInt2e = {0xCD, 0x2E};  // used if virtualisation forbids syscall
// Wine uses call [7FFE1000h], its system call dispatcher.
constexpr std::array<std::uint8_t, 7> kWineDispatch = {0xFF, 0x14, 0x25, 0x00, 0x10, 0xFE, 0x7F};

// mov r10, rcx; mov eax, NUMBER. No number needs more than 16 bits.
constexpr std::array<std::uint8_t, 4> kBegin = {0x4C, 0x8B, 0xD1, 0xB8};
constexpr std::uint32_t kMaxNumber = 0xFFFF;
// test byte ptr [7FFE0308h], 1; jne behind the ret. Windows before version 1511 of Windows 10 has no such test.
constexpr std::array<std::uint8_t, 10> kTest = {0xF6, 0x04, 0x25, 0x08, 0x03, 0xFE, 0x7F, 0x01, 0x75, 0x03};
constexpr std::array<std::uint8_t, 3> kCallAndReturn = {kSyscall[0], kSyscall[1], 0xC3};

bool follows(std::uint64_t ip, std::span<const std::uint8_t> instruction,
             const MemoryReader& code) noexcept {
  std::array<std::uint8_t, kWineDispatch.size()> before;
  return ip > instruction.size() &&
         code.read(ip - instruction.size(), before.data(), instruction.size()) &&
         std::equal(instruction.begin(), instruction.end(), before.begin());
}

template <std::size_t kBytes>
bool has_bytes(std::uint64_t address, const std::array<std::uint8_t, kBytes>& bytes,
               const MemoryReader& code) noexcept {
  return code.read_value<std::array<std::uint8_t, kBytes>>(address) == bytes;
}

}  // namespace

bool is_system_call_stub(std::uint64_t address, const MemoryReader& code) noexcept {
  const auto number = code.read_value<std::uint32_t>(address + kBegin.size());
  if (!has_bytes(address, kBegin, code) || !number || *number > kMaxNumber) return false;
  const std::uint64_t behind = address + kBegin.size() + sizeof *number;
  return has_bytes(behind, kCallAndReturn, code) ||
         (has_bytes(behind, kTest, code) && has_bytes(behind + kTest.size(), kCallAndReturn, code));
}

bool at_system_call(std::uint64_t ip, const MemoryReader& code) noexcept {
  return follows(ip, kSyscall, code) || follows(ip, kInt2e, code) ||
         follows(ip, kWineDispatch, code);
}

}  // namespace mixwalk
