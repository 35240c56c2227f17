#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace mixwalk {

// What an x64 instruction does to the flow of a program.
struct FlowInstruction {
  enum class Kind : std::uint8_t {
    other,  // the next instruction follows
    call,
    system_call,  // syscall, int 2e: the kernel comes back right behind it, or calls from there
    jump,         // always taken
    conditional_jump,
    end,  // a return, or a trap: nothing follows
  };
  enum class Target : std::uint8_t {
    none,
    direct,   // `address` is where it leads
    slot,     // [rip + disp32]: `address` is the word that holds where it leads
    unknown,  // through a register, or memory that a register points to
  };
  Kind kind = Kind::other;
  Target target = Target::none;
  std::uint8_t bytes = 0;
  std::uint64_t address = 0;
  // The instruction writes the word at Rsp, or loads Rsp from a register: a return that follows it goes to an address
  // that was put there.
  bool writes_return = false;
};

// x64 instructions by capstone, one at a time. Not frozen-safe; one thread at a time.
class Disassembler {
 public:
  Disassembler();
  ~Disassembler();
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;

  // The instruction that begins at code[0], whose address is `address`. Nothing: the bytes are no instruction, or it is
  // cut off.
  std::optional<FlowInstruction> decode(std::span<const std::byte> code, std::uint64_t address);
  // In Intel's syntax: "call qword ptr [rip + 0x1c1a]". Empty: as above.
  std::string text(std::span<const std::byte> code, std::uint64_t address);

 private:
  struct Capstone;
  bool next(std::span<const std::byte> code, std::uint64_t address);

  std::unique_ptr<Capstone> capstone_;
};

// Bytes of the longest x64 instruction.
inline constexpr std::uint32_t kLongestInstruction = 15;

}  // namespace mixwalk
