#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace mixwalk {

// The effect of an x64 instruction on the flow of a program.
struct FlowInstruction {
  enum class Kind : std::uint8_t {
    other,  // the next instruction follows
    call,
    system_call,  // syscall, int 2e: the kernel returns directly behind it, or calls the program from there
    jump,         // always taken
    conditional_jump,
    end,  // a return, or a trap: nothing follows
  };
  enum class Target : std::uint8_t {
    none,
    direct,   // `address` is the target
    slot,     // [rip + disp32]: `address` is that of the word that holds the target
    unknown,  // through a register, or memory that a register points to
  };
  Kind kind = Kind::other;
  Target target = Target::none;
  std::uint8_t bytes = 0;
  std::uint64_t address = 0;
  // The instruction writes the word at Rsp, or loads Rsp from a register. A return that follows it goes to the address
  // that was written there.
  bool writes_return = false;
};

// Decodes x64 instructions by capstone, one at a time. Not frozen-safe; one thread at a time.
class Disassembler {
 public:
  Disassembler();
  ~Disassembler();
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;

  // Decodes the instruction that begins at code[0], whose address is `address`. Returns nothing if the bytes are not an
  // instruction, or the instruction is cut off.
  std::optional<FlowInstruction> decode(std::span<const std::byte> code, std::uint64_t address);
  // Returns the instruction in Intel's syntax: "call qword ptr [rip + 0x1c1a]". The result is empty in the same cases.
  std::string text(std::span<const std::byte> code, std::uint64_t address);

 private:
  struct Capstone;
  bool next(std::span<const std::byte> code, std::uint64_t address);

  std::unique_ptr<Capstone> capstone_;
};

// The length in bytes of the longest x64 instruction.
inline constexpr std::uint32_t kLongestInstruction = 15;

}  // namespace mixwalk
