#pragma once

#include <cstdint>

#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/module_view.h"
#include "unmanaged/step/outside_memory.h"
#include "unmanaged/step/pdata.h"
#include "unmanaged/step/unwind_step.h"

namespace mixwalk {

// Code without unwind data, as far as it is known: from the earliest possible begin of its function to the thread's
// instruction.
struct LeafCode {
  std::uint64_t begin = 0;
  std::uint64_t ip = 0;

  bool contains(std::uint64_t address) const noexcept { return address >= begin && address <= ip; }
};

// Returns the code between two entries of an image's .pdata. `gap` is the search that found no entry.
LeafCode leaf_code(const ModuleSpan& module, const EntrySearch& gap, std::uint64_t ip) noexcept;

// The step from a frame without unwind data. The ABI calls such a function a leaf function: Rsp is where its caller
// left it. But assembly routines and other compilers' code have no unwind data either, and move Rsp freely; then the
// word at Rsp is data, a return address left over from a call that has long returned, or an address that the code put
// there.
//
// So the word is accepted only if it points into code directly behind a call that can have led here: a call of the leaf
// itself, of a thunk or a function that jumps there, or of an unknown place (a call through a register). The last kind
// of call proves nothing, and the result says so (StepResult::proven). Frozen-safe if `outside` is.
class LeafStep {
 public:
  LeafStep(const ModuleView& modules, const MemoryReader& code, const MemoryReader& stack,
           OutsideMemory& outside) noexcept
      : modules_(modules), code_(code), stack_(stack), outside_(outside) {}

  StepResult step(Cursor& frame, const LeafCode& leaf) noexcept;

  // Whether a call right before the return address can have led to such code.
  bool may_lead_to(std::uint64_t return_address, const LeafCode& code) noexcept {
    return call_leads_to(return_address, code) != Proof::none;
  }

  // Whether every call that can end at the return address certainly calls other code: a function of an image that jumps
  // nowhere else. A call through a register or a slot is never certain; checking one costs next to nothing.
  bool calls_other_code(std::uint64_t return_address, const LeafCode& code) noexcept;

  // Whether an instruction may lie there: in an image's code, or in memory that `outside` reports as code.
  bool is_code(std::uint64_t address) noexcept;

 private:
  enum class Proof : std::uint8_t { none, possible, certain };

  Proof call_leads_to(std::uint64_t return_address, const LeafCode& leaf) noexcept;
  Proof leads_to(std::uint64_t address, const LeafCode& leaf, int hops) noexcept;
  Proof slot_leads_to(std::uint64_t slot, const LeafCode& leaf, int hops) noexcept;
  bool changes(std::uint64_t slot) const noexcept;
  bool has_no_outside_jump(std::uint64_t address) noexcept;
  Proof jumps_to(std::uint64_t begin, std::uint32_t bytes, bool leaf_code, const LeafCode& leaf,
                 int hops) noexcept;
  bool part_jumps_to(std::uint64_t part, const LeafCode& leaf) noexcept;

  const ModuleView& modules_;
  const MemoryReader& code_;
  const MemoryReader& stack_;
  OutsideMemory& outside_;
  int parts_left_ = 0;  // parts that part_jumps_to() may still read for the current question
};

}  // namespace mixwalk
