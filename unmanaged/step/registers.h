#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mixwalk {

// The general registers of x64, with the numbers of UNWIND_CODE.OpInfo (x64 exception handling, "struct UNWIND_CODE",
// in the Windows x64 ABI).
enum class Register : std::uint8_t {
  rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15,
};
inline constexpr std::size_t kGeneralRegisters = 16;

// The integer registers of one frame, in the target's own addresses. A stack walk needs no others: the XMM registers
// are left out because no frame address ever depends on them. Frozen-safe.
struct Registers {
  std::array<std::uint64_t, kGeneralRegisters> general{};
  std::uint64_t rip = 0;

  std::uint64_t& operator[](Register r) noexcept { return general[static_cast<std::size_t>(r)]; }
  std::uint64_t operator[](Register r) const noexcept {
    return general[static_cast<std::size_t>(r)];
  }
  std::uint64_t rsp() const noexcept { return (*this)[Register::rsp]; }

  bool operator==(const Registers&) const = default;
};

}  // namespace mixwalk
