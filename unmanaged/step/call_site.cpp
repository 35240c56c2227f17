#include "unmanaged/step/call_site.h"

#include <cstring>

namespace mixwalk {
namespace {

constexpr std::size_t kLongestCall = 7;  // without prefixes: FF /2 with a SIB byte and a disp32
constexpr std::size_t kDirectCall = 5;

std::uint64_t relative(const std::uint8_t* displacement, std::uint64_t next) noexcept {
  std::int32_t value;
  std::memcpy(&value, displacement, sizeof value);
  return next + static_cast<std::uint64_t>(std::int64_t{value});
}

// Returns the length of FF /2 with this ModRM byte and, if it has one, this SIB byte; 0 if the instruction is not /2.
std::size_t indirect_call_bytes(std::uint8_t modrm, std::uint8_t sib) noexcept {
  if ((modrm >> 3 & 7) != 2) return 0;
  const unsigned mode = modrm >> 6;
  const unsigned rm = modrm & 7u;
  if (mode == 3) return 2;  // call reg
  const std::size_t with_sib = rm == 4 ? 3 : 2;
  switch (mode) {
    case 0:
      if (rm == 5) return 6;                            // [rip + disp32]
      return with_sib + (rm == 4 && (sib & 7) == 5 ? 4 : 0);  // [index * n + disp32]
    case 1: return with_sib + 1;
    default: return with_sib + 4;
  }
}

}  // namespace

CallSites calls_before(std::uint64_t return_address, const MemoryReader& code) noexcept {
  CallSites found;
  std::array<std::uint8_t, kLongestCall> bytes{};
  // An image's code, or a block of jitted code, can begin with the call, so fewer bytes may be readable.
  std::size_t known = kLongestCall;
  while (known >= 2 && (return_address < known ||
                        !code.read(return_address - known, bytes.data() + kLongestCall - known,
                                   known))) {
    --known;
  }
  for (std::size_t length = 2; length <= known; ++length) {
    const std::uint8_t* call = bytes.data() + kLongestCall - length;
    if (length == kDirectCall) {
      if (call[0] == 0xE8) {
        found.add({CallSite::Kind::direct, relative(call + 1, return_address)});
      }
      continue;
    }
    const std::uint8_t sib = length > 2 ? call[2] : 0;
    if (call[0] != 0xFF || indirect_call_bytes(call[1], sib) != length) continue;
    if (call[1] == 0x15) {
      found.add({CallSite::Kind::slot, relative(call + 2, return_address)});
    } else {
      found.add({});
    }
  }
  return found;
}

Jump jump_at(std::span<const std::uint8_t> bytes, std::uint64_t address) noexcept {
  const auto byte = [&](std::size_t at) -> unsigned { return at < bytes.size() ? bytes[at] : 0; };
  // The instruction `mov r10, [rip + disp32]` may come first: the runtime's thunks load their argument with it.
  const std::size_t first =
      byte(0) == 0x4C && byte(1) == 0x8B && byte(2) == 0x15 && bytes.size() > 7 ? 7 : 0;
  if (byte(first) == 0xEB && bytes.size() >= first + 2) {
    return {Jump::Kind::direct,
            address + first + 2 +
                static_cast<std::uint64_t>(std::int64_t{static_cast<std::int8_t>(byte(first + 1))})};
  }
  if (byte(first) == 0xE9 && bytes.size() >= first + 5) {
    return {Jump::Kind::direct, relative(&bytes[first + 1], address + first + 5)};
  }
  if (byte(0) == 0x0F && (byte(1) & 0xF0) == 0x80 && bytes.size() >= 6) {
    return {Jump::Kind::conditional, relative(&bytes[2], address + 6)};
  }
  const std::size_t rex = (byte(first) & 0xF0) == 0x40 ? 1 : 0;
  const std::size_t opcode = first + rex;
  if (byte(opcode) == 0xFF && byte(opcode + 1) == 0x25 && bytes.size() >= opcode + 6) {
    return {Jump::Kind::slot, relative(&bytes[opcode + 2], address + opcode + 6)};
  }
  if (byte(opcode) == 0xFF && (byte(opcode + 1) & 0xF8) == 0xE0) return {Jump::Kind::indirect};
  if (byte(0) == 0x48 && byte(1) == 0xB8 && byte(10) == 0xFF && byte(11) == 0xE0) {
    Jump jump{Jump::Kind::direct};
    std::memcpy(&jump.address, &bytes[2], sizeof jump.address);
    return jump;
  }
  return {};
}

}  // namespace mixwalk
