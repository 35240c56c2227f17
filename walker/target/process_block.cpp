#include "walker/target/process_block.h"

#include <cstddef>
#include <span>
#include <vector>

#include "unmanaged/image/utf16.h"

namespace mixwalk {
namespace {

// Offsets on x64 in NT_TIB, at the beginning of a TEB.
constexpr std::uint64_t kStackBase = 8, kStackLimit = 16;
// Offsets of TEB.ProcessEnvironmentBlock, PEB.ProcessParameters, RTL_USER_PROCESS_PARAMETERS.CommandLine (a
// UNICODE_STRING: bytes, room, pointer).
constexpr std::uint64_t kPeb = 0x60, kParameters = 0x20, kCommandLine = 0x70, kBuffer = 8;
constexpr std::uint64_t kLoaderLockOfPeb = 0x110;
// Offset of TEB.SameTebFlags, and its bit LoadOwner.
constexpr std::uint64_t kSameTebFlags = 0x17EE;
constexpr std::uint16_t kLoadOwner = 0x1000;

}  // namespace

std::string command_line_of(const MemoryReader& memory, std::uint64_t teb) {
  if (teb == 0) return {};
  const auto peb = memory.read_value<std::uint64_t>(teb + kPeb);
  const auto parameters = peb ? memory.read_value<std::uint64_t>(*peb + kParameters) : std::nullopt;
  if (!parameters) return {};
  const auto bytes = memory.read_value<std::uint16_t>(*parameters + kCommandLine);
  const auto text = memory.read_value<std::uint64_t>(*parameters + kCommandLine + kBuffer);
  if (!bytes || !text) return {};
  std::vector<std::byte> units(*bytes);
  if (!memory.read(*text, units.data(), units.size())) return {};
  return utf8_of_utf16(units);
}

std::uint64_t loader_lock(const MemoryReader& memory, std::uint64_t teb) {
  if (teb == 0) return 0;
  const auto peb = memory.read_value<std::uint64_t>(teb + kPeb);
  return peb ? memory.read_value<std::uint64_t>(*peb + kLoaderLockOfPeb).value_or(0) : 0;
}

bool is_load_owner(const MemoryReader& memory, std::uint64_t teb) {
  return teb != 0 && (memory.read_value<std::uint16_t>(teb + kSameTebFlags).value_or(0) & kLoadOwner) != 0;
}

StackLimits stack_limits(const MemoryReader& memory, std::uint64_t teb) {
  if (teb == 0) return {};
  const auto base = memory.read_value<std::uint64_t>(teb + kStackBase);
  const auto limit = memory.read_value<std::uint64_t>(teb + kStackLimit);
  if (!base || !limit || *base <= *limit) return {};
  return {*limit, *base};
}

}  // namespace mixwalk
