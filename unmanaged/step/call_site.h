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
    direct,    // call rel32: `address` is where it leads
    slot,      // call [rip + disp32]: `address` is the word that holds where it leads (an import)
    indirect,  // through a register, or memory that a register points to: the callee is not known
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
  // One of each length: 2, 3, 4, 5, 6 and 7 bytes.
  std::array<CallSite, 6> sites_;
  std::size_t count_ = 0;
};

// Every call that can end at the address. Empty: none, or the bytes before it cannot be read.
CallSites calls_before(std::uint64_t return_address, const MemoryReader& code) noexcept;

// The target of an instruction that only jumps: the thunks of linkers, loaders and the runtime, and the tail calls of
// functions.
struct Jump {
  enum class Kind : std::uint8_t {
    none,         // no jump
    direct,       // jmp rel8, jmp rel32, or mov rax, imm64; jmp rax
    conditional,  // jcc rel32. (jcc rel8, one byte in sixteen with any byte behind it, is hardly a tail call.)
    slot,         // jmp [rip + disp32], with REX.W or without; also behind mov r10, [rip + disp32]
    indirect,     // through a register
  };
  Kind kind = Kind::none;
  std::uint64_t address = 0;  // as CallSite::address

  // `address` is where it leads, or may lead.
  bool names_target() const noexcept { return kind == Kind::direct || kind == Kind::conditional; }
};

// The jump that begins at bytes[0], whose address is `address`.
Jump jump_at(std::span<const std::uint8_t> bytes, std::uint64_t address) noexcept;

}  // namespace mixwalk
