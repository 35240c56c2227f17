#include "unmanaged/step/leaf_step.h"

#include <algorithm>
#include <array>
#include <span>

#include "unmanaged/step/call_site.h"
#include "unmanaged/step/unwind_info.h"

namespace mixwalk {
namespace {

// The longest chain leads from an import's thunk to the runtime's jump stub, to a method's precode, to its code.
constexpr int kMaxHops = 5;

// The number of bytes of a function that are searched for the jump that continues elsewhere. Functions without unwind
// data are short (the runtime's write barriers have 30 to 80 bytes); other functions that end in a tail call are mostly
// wrappers.
constexpr std::uint32_t kMaxLeafBytes = 128;
constexpr std::uint32_t kMaxFunctionBytes = 2048;
constexpr std::uint32_t kMaxPartBytes = 256;
// The maximum number of further parts that are read for one question; a function has one or two. The thread may be
// frozen meanwhile, and a hostile program may have made its code so that reading it takes long.
constexpr int kMaxParts = 16;

constexpr std::uint32_t kChunk = 256;      // read at once
constexpr std::uint32_t kLongestJump = 14;  // mov r10, [rip + disp32]; rex jmp [rip + disp32]

}  // namespace

LeafCode leaf_code(const ModuleSpan& module, const EntrySearch& gap, std::uint64_t ip) noexcept {
  return {module.base + std::max(gap.gap_begin, module.code_around(ip).begin), ip};
}

bool LeafStep::is_code(std::uint64_t address) noexcept {
  const ModuleSpan* module = modules_.find(address);
  return module != nullptr ? module->is_code(address)
                           : outside_.kind(address) == MemoryKind::code;
}

StepResult LeafStep::step(Cursor& frame, const LeafCode& leaf) noexcept {
  Cursor caller{frame.registers, AddressKind::return_address};
  std::uint64_t& rsp = caller.registers[Register::rsp];
  if (!stack_.read(rsp, &caller.registers.rip, sizeof caller.registers.rip)) {
    return {StepFault::unreadable_stack};
  }
  rsp += 8;
  const Proof proof = call_leads_to(caller.registers.rip, leaf);
  if (proof == Proof::none) return {StepFault::no_call};
  if (rsp <= frame.registers.rsp()) return {StepFault::stack_not_growing};
  frame = caller;
  frame.guessed = proof != Proof::certain;
  return {StepFault::none, Trust::leaf, proof == Proof::certain};
}

LeafStep::Proof LeafStep::call_leads_to(std::uint64_t return_address,
                                        const LeafCode& leaf) noexcept {
  if (return_address == 0 || !is_code(return_address - 1)) return Proof::none;
  parts_left_ = kMaxParts;
  const CallSites calls = calls_before(return_address, code_);
  Proof best = Proof::none;
  bool direct = false;
  for (const CallSite& call : calls.sites()) {
    Proof proof = Proof::possible;
    if (call.kind == CallSite::Kind::direct) {
      proof = leads_to(call.address, leaf, kMaxHops);
      // If the bytes lead into code, they are hardly the end of another call.
      direct = direct || (proof == Proof::none && is_code(call.address));
    } else if (call.kind == CallSite::Kind::slot) {
      proof = slot_leads_to(call.address, leaf, kMaxHops);
    }
    best = std::max(best, proof);
  }
  return direct && best == Proof::possible ? Proof::none : best;
}

bool LeafStep::calls_other_code(std::uint64_t return_address, const LeafCode& code) noexcept {
  parts_left_ = kMaxParts;
  const CallSites calls = calls_before(return_address, code_);
  const auto is_other = [&](const CallSite& call) {
    return call.kind == CallSite::Kind::direct &&
           leads_to(call.address, code, kMaxHops) == Proof::none && has_no_outside_jump(call.address);
  };
  return !calls.empty() && std::ranges::all_of(calls.sites(), is_other);
}

// Whether this is a function of an image, read to its end, in which nothing looks like a jump to other code.
bool LeafStep::has_no_outside_jump(std::uint64_t address) noexcept {
  const ModuleSpan* module = modules_.find(address);
  if (module == nullptr || !module->is_code(address)) return false;
  const auto rva = static_cast<std::uint32_t>(address - module->base);
  const EntrySearch search = find_entry(code_, *module, rva);
  if (!search.found || search.entry.begin != rva) return false;
  const std::uint32_t bytes = search.entry.end - rva;
  std::array<std::uint8_t, kMaxFunctionBytes> buffer;
  if (bytes > kMaxFunctionBytes || !code_.read(address, buffer.data(), bytes)) return false;
  for (std::uint32_t at = 0; at < bytes; ++at) {
    const Jump jump = jump_at(std::span(buffer).subspan(at, bytes - at), address + at);
    if (jump.kind == Jump::Kind::none) continue;
    const bool inside = jump.address - address < bytes;
    if (!jump.names_target() || (!inside && is_code(jump.address))) return false;
  }
  return true;
}

LeafStep::Proof LeafStep::slot_leads_to(std::uint64_t slot, const LeafCode& leaf,
                                        int hops) noexcept {
  const ModuleSpan* module = modules_.find(slot);
  if (module == nullptr) {
    const MemoryKind kind = outside_.kind(slot);
    if (kind == MemoryKind::unknown) return Proof::possible;
    if (kind == MemoryKind::nothing) return Proof::none;
  }
  const auto target = code_.read_value<std::uint64_t>(slot);
  // Situation: a dump without the images, for which the image files are there. A file does not say to which function an
  // import was bound.
  if (!target) return module != nullptr && !module->closed ? Proof::possible : Proof::none;
  const Proof proof = leads_to(*target, leaf, hops);
  return changes(slot) ? std::max(proof, Proof::possible) : proof;
}

// The content of the runtime's cells, in ReadyToRun images and outside all images, changes all the time, so the current
// content of such a cell is not necessarily what the call read there. An import slot never changes.
bool LeafStep::changes(std::uint64_t slot) const noexcept {
  const ModuleSpan* module = modules_.find(slot);
  return module == nullptr || module->has_managed_code;
}

LeafStep::Proof LeafStep::leads_to(std::uint64_t address, const LeafCode& leaf,
                                   int hops) noexcept {
  if (leaf.contains(address)) return Proof::certain;
  if (hops == 0) return Proof::none;
  const ModuleSpan* module = modules_.find(address);
  if (module == nullptr) {
    const MemoryKind kind = outside_.kind(address);
    if (kind == MemoryKind::unknown) return Proof::possible;  // may be a thunk of the runtime
    if (kind != MemoryKind::code) return Proof::none;
    return jumps_to(address, kMaxLeafBytes, true, leaf, hops);
  }
  if (!module->is_code(address)) return Proof::none;
  const auto rva = static_cast<std::uint32_t>(address - module->base);
  const EntrySearch search = find_entry(code_, *module, rva);
  if (search.fault != StepFault::none) return Proof::none;
  const std::uint32_t most = rva + (search.found ? kMaxFunctionBytes : kMaxLeafBytes);
  std::uint32_t end = std::min(most, module->code_around(address).end);
  if (search.found) end = std::min(end, search.entry.end);
  if (end <= rva) return Proof::none;
  return jumps_to(address, end - rva, !search.found, leaf, hops);
}

// Decodes from each byte as if an instruction began there. A jump whose target is exactly the leaf is hardly a
// coincidence of four bytes.
LeafStep::Proof LeafStep::jumps_to(std::uint64_t begin, std::uint32_t bytes, bool leaf_code,
                                   const LeafCode& leaf, int hops) noexcept {
  std::array<std::uint8_t, kChunk + kLongestJump> buffer;
  Proof best = Proof::none;
  for (std::uint32_t done = 0; done < bytes; done += kChunk) {
    // The page behind a thunk may not be readable.
    const std::size_t known = code_.read_up_to(begin + done, buffer.data(),
                                               std::min<std::size_t>(buffer.size(), bytes - done));
    if (known == 0) return best;
    for (std::size_t at = 0; at < known && at < kChunk; ++at) {
      const std::uint64_t address = begin + done + at;
      const Jump jump = jump_at(std::span(buffer).subspan(at, known - at), address);
      // The jump of a thunk is followed further. A jump in the middle of a function counts only if it leads to the
      // leaf.
      const bool thunk = done + at == 0 && jump.kind != Jump::Kind::conditional;
      Proof proof = Proof::none;
      switch (jump.kind) {
        case Jump::Kind::none: continue;
        case Jump::Kind::direct:
        case Jump::Kind::conditional:
          if (jump.address == begin) continue;
          proof = leads_to(jump.address, leaf, thunk ? hops - 1 : 0);
          if (proof == Proof::none && !thunk && hops > 0 && part_jumps_to(jump.address, leaf)) {
            proof = Proof::certain;
          }
          break;
        case Jump::Kind::slot:
          // This is not limited to thunks, because a virtual tail call goes through the dispatcher of control flow
          // guard.
          proof = slot_leads_to(jump.address, leaf, thunk ? hops - 1 : std::min(hops - 1, 1));
          // Two bytes that look like a jump by accident must not be taken for a jump through a cell that changes.
          if (!thunk && !leaf_code && changes(jump.address)) proof = Proof::none;
          break;
        case Jump::Kind::indirect:
          // Control flow guard calls through a routine that consists of such a jump, or ends with one.
          if (leaf_code || bytes <= kMaxLeafBytes) proof = Proof::possible;
          break;
      }
      if (proof == Proof::certain) return proof;
      best = std::max(best, proof);
      if (thunk) return best;
    }
  }
  return best;
}

// Situation: a function's further part, far away in the image, contains the tail call. Real case: clrjit, where
// Microsoft's compiler moves rarely executed code away (2 of 15,413 samples of hunt.exe expressions had a gap).
bool LeafStep::part_jumps_to(std::uint64_t part, const LeafCode& leaf) noexcept {
  const ModuleSpan* module = modules_.find(part);
  if (module == nullptr || !module->is_code(part)) return false;
  const auto rva = static_cast<std::uint32_t>(part - module->base);
  const EntrySearch search = find_entry(code_, *module, rva);
  if (!search.found || summarise_unwind({code_, stack_, module->base}, search.entry).callable) return false;
  if (parts_left_-- <= 0) return false;
  const std::uint32_t bytes = std::min(search.entry.end - rva, kMaxPartBytes);
  std::array<std::uint8_t, kMaxPartBytes> buffer;
  const std::size_t known = code_.read_up_to(part, buffer.data(), bytes);
  for (std::size_t at = 0; at < known; ++at) {
    const Jump jump = jump_at(std::span(buffer).subspan(at, known - at), part + at);
    if (jump.names_target() && leaf.contains(jump.address)) return true;
  }
  return false;
}

}  // namespace mixwalk
