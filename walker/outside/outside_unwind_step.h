#pragma once

#include <cstdint>
#include <optional>

#include "unmanaged/step/leaf_step.h"
#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/module_view.h"
#include "unmanaged/step/outside_memory.h"
#include "unmanaged/step/stack_copy.h"
#include "unmanaged/step/table_unwind_step.h"
#include "unmanaged/step/unwind_step.h"
#include "walker/outside/clr_questions.h"

namespace mixwalk {

// The steps of a stack of another process: in images by their .pdata, in code that the runtime compiled by the
// header before that code, and in the runtime's thunks as from a leaf. It does what RtlUnwindStep does in the
// process itself, and checks callers by the same rules. Not frozen-safe: it asks the runtime's debugging
// library. One thread at a time; of one stack.
class OutsideUnwindStep final : public UnwindStep {
 public:
  struct View {
    const ModuleView& modules;
    const MemoryReader& memory;  // the target's
    OutsideMemory& outside;
    ClrQuestions& clr;
    // KiUserExceptionDispatcher of the target's ntdll.dll; 0: unknown.
    std::uint64_t exception_dispatcher = 0;
  };
  // What `view` refers to and `stack` must outlive this.
  OutsideUnwindStep(const View& view, const StackCopy& stack) noexcept;

  StepResult step(Cursor& frame, LeafRule leaf) noexcept override;

 private:
  StepResult step_outside(Cursor& frame, LeafRule leaf) noexcept;
  std::optional<Cursor> interrupted_by_exception(const Cursor& frame) const noexcept;
  StepFault check_caller(const Cursor& caller, const ModuleSpan* callee, bool guessed) noexcept;

  const View view_;
  const StackCopy& stack_;
  TableUnwindStep table_;
  LeafStep leaf_;
};

}  // namespace mixwalk
