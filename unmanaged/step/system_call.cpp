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

bool follows(std::uint64_t ip, std::span<const std::uint8_t> instruction,
             const MemoryReader& code) noexcept {
  std::array<std::uint8_t, kWineDispatch.size()> before;
  return ip > instruction.size() &&
         code.read(ip - instruction.size(), before.data(), instruction.size()) &&
         std::equal(instruction.begin(), instruction.end(), before.begin());
}

}  // namespace

bool at_system_call(std::uint64_t ip, const MemoryReader& code) noexcept {
  return follows(ip, kSyscall, code) || follows(ip, kInt2e, code) ||
         follows(ip, kWineDispatch, code);
}

}  // namespace mixwalk
