#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// A call instruction that may end right before a return address. Frozen-safe. (Intel SDM, volume 2, "CALL": E8 rel32,
// FF /2. Prefixes come first, and change neither the end of the instruction nor, in 64-bit code, the operand's
// address.)
struct CallSite {
  enum class Kind : std::uint8_t {
    direct,    // call rel32; `address` is the target
    slot,      // call [rip + disp32]; `address` is that of the word that holds the target (an import)
    indirect,  // through a register, or memory that a register points to; the target is not known
  };
  Kind kind = Kind::indirect;
  std::uint64_t address = 0;
};

// Instructions cannot be decoded backwards: the bytes before an address can be the end of more than one call. All of
// them are listed.
class CallSites {
 public:
  std::span<const CallSite> sites() const noexcept { return {sites_.data(), count_}; }
  bool empty() const noexcept { return count_ == 0; }
  void add(CallSite site) noexcept { sites_[count_++] = site; }

 private:
  // At most one call of each length: 2, 3, 4, 5, 6 and 7 bytes.
  std::array<CallSite, 6> sites_;
  std::size_t count_ = 0;
};

// Returns every call that can end at the address. The result is empty if there is none, or the bytes before the address
// cannot be read.
CallSites calls_before(std::uint64_t return_address, const MemoryReader& code) noexcept;

// The target of an instruction that only jumps: the thunks of linkers, loaders and the runtime, and the tail calls of
// functions.
struct Jump {
  enum class Kind : std::uint8_t {
    none,         // not a jump
    direct,       // jmp rel8, jmp rel32, or mov rax, imm64; jmp rax
    conditional,  // jcc rel32. (jcc rel8 is hardly ever a tail call, and one byte in sixteen, with any byte behind it,
                  // looks like one.)
    slot,         // jmp [rip + disp32], with or without REX.W; also behind mov r10, [rip + disp32]
    indirect,     // through a register
  };
  Kind kind = Kind::none;
  std::uint64_t address = 0;  // as CallSite::address

  // Whether `address` is the jump's target, or for a conditional jump its possible target.
  bool names_target() const noexcept { return kind == Kind::direct || kind == Kind::conditional; }
};

// Returns the jump that begins at bytes[0], whose address is `address`.
Jump jump_at(std::span<const std::uint8_t> bytes, std::uint64_t address) noexcept;

}  // namespace mixwalk
