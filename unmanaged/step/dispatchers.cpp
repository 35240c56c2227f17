#include "unmanaged/step/dispatchers.h"

#include <array>

#include "unmanaged/step/call_site.h"
#include "unmanaged/step/system_call.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kWord = 8;
constexpr std::uint64_t kMark = 0xDEAD'BABE;
// From the mark: the data's address and size as the function has stored them, and the data itself.
constexpr std::uint64_t kDataAt = 16, kSizeAt = 24, kData = 40;
constexpr std::uint64_t kDataAlignment = 16;
constexpr std::uint32_t kMaxDataBytes = 1 << 20;
// A stub has 24 bytes, up to its last instruction.
constexpr std::uint64_t kMaxStubBytes = 32;

// Returns the address right behind the system call of the stub that begins there, or 0 if none does.
std::uint64_t system_call_of(std::uint64_t stub, const MemoryReader& code) noexcept {
  for (std::uint64_t at = stub; at < stub + kMaxStubBytes; ++at) {
    if (at_system_call(at, code)) return at;
  }
  return 0;
}

// Returns the address right behind the system call of the stub to which the call before the return address leads, or 0
// if it leads to none.
std::uint64_t called_system_call(std::uint64_t return_address, const MemoryReader& code) noexcept {
  for (const CallSite& call : calls_before(return_address, code).sites()) {
    std::uint64_t target = 0;
    if (call.kind == CallSite::Kind::direct) target = call.address;
    if (call.kind == CallSite::Kind::slot) target = code.read_value<std::uint64_t>(call.address).value_or(0);
    if (target == 0) continue;
    // A linker's thunk of an imported function.
    std::array<std::uint8_t, 8> bytes{};
    if (code.read(target, bytes.data(), bytes.size())) {
      const Jump jump = jump_at(bytes, target);
      if (jump.kind == Jump::Kind::slot) target = code.read_value<std::uint64_t>(jump.address).value_or(0);
      if (jump.kind == Jump::Kind::direct) target = jump.address;
    }
    if (const std::uint64_t found = system_call_of(target, code); found != 0) return found;
  }
  return 0;
}

}  // namespace

std::optional<Registers> callback_caller(const StackCopy& stack, const MemoryReader& code,
                                         const Registers& caller) noexcept {
  if (caller.rip != kMark) return std::nullopt;
  const std::uint64_t mark = caller.rsp() - kWord, data = mark + kData;
  const auto size = stack.word(mark + kSizeAt);
  if (stack.word(mark + kDataAt) != data || !size) return std::nullopt;
  const auto bytes = static_cast<std::uint32_t>(*size);  // the word's upper half is not set
  if (bytes > kMaxDataBytes) return std::nullopt;
  const std::uint64_t first = (data + bytes + kWord - 1) / kWord * kWord;
  for (std::uint64_t rsp = first; (rsp - bytes) / kDataAlignment * kDataAlignment == data; rsp += kWord) {
    const auto return_address = stack.word(rsp);
    if (!return_address) break;
    if (const std::uint64_t rip = called_system_call(*return_address, code); rip != 0) {
      Registers registers = caller;
      registers.rip = rip;
      registers[Register::rsp] = rsp;
      return registers;
    }
  }
  return std::nullopt;
}

}  // namespace mixwalk
