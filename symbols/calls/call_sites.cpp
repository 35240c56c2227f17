#include "symbols/calls/call_sites.h"

namespace mixwalk {
namespace {

// The length of the shortest call, which is a call through a register.
constexpr std::uint32_t kShortestCall = 2;
// In bytes. The largest functions of e_sqlite3 and clrjit have a third of this size.
constexpr std::uint32_t kMaxSweep = 128 * 1024;

bool is_call(const FlowInstruction& instruction) {
  return instruction.kind == FlowInstruction::Kind::call ||
         instruction.kind == FlowInstruction::Kind::system_call;
}

}  // namespace

std::vector<CallBefore> calls_before(const PeImage& image, std::uint32_t return_rva,
                                     Disassembler& disassembler) {
  std::vector<CallBefore> found;
  for (std::uint32_t bytes = kShortestCall; bytes <= kLongestInstruction && bytes <= return_rva; ++bytes) {
    const std::uint32_t rva = return_rva - bytes;
    if (!image.is_code(rva)) break;
    const auto code = image.bytes_at(rva, bytes);
    if (!code) break;
    const auto instruction = disassembler.decode(*code, rva);
    if (instruction && instruction->bytes == bytes && is_call(*instruction))
      found.push_back({rva, *instruction});
  }
  return found;
}

SweepResult sweep_to(const PeImage& image, std::uint32_t return_rva, Disassembler& disassembler) {
  if (return_rva == 0) return {};
  const PeImage::Function* const function = image.function_at(return_rva - 1);
  if (function == nullptr || return_rva - function->begin > kMaxSweep) return {};
  const auto code = image.bytes_at(function->begin, return_rva - function->begin);
  if (!code) return {};
  for (std::uint32_t at = 0; at < code->size();) {
    const auto instruction = disassembler.decode(code->subspan(at), function->begin + at);
    if (!instruction) return {};
    const std::uint32_t next = at + instruction->bytes;
    if (next == code->size())
      return {is_call(*instruction) ? Sweep::call : Sweep::no_call, function->begin + at};
    at = next;
  }
  return {};
}

}  // namespace mixwalk
