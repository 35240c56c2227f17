#pragma once

#include <windows.h>

#include <optional>

#include "unmanaged/step/leaf_step.h"
#include "unmanaged/step/module_view.h"
#include "unmanaged/step/pdata.h"
#include "unmanaged/step/stack_copy.h"
#include "unmanaged/step/unwind_info.h"
#include "unmanaged/step/unwind_step.h"
#include "unmanaged/win/live_memory.h"

namespace mixwalk {

// Makes one step by RtlVirtualUnwind, over a stack copy whose pointers were rewritten (StackCopy::rewrite_pointers).
// NOT frozen-safe: RtlLookupFunctionEntry takes the lock of the dynamic function table, which the frozen thread may
// hold. One object serves one stack.
//
// The system's unwinder is never called with input on which it might not return: unwind data that contradicts itself,
// or whose chain leads to itself, is refused; a jump to itself is decoded here.
class RtlUnwindStep final : public UnwindStep {
 public:
  // Data that earlier walks have collected. Each pointer may be null. No other walk may use the data meanwhile.
  struct Known {
    EntryHints* hints = nullptr;
    LiveMemory* outside = nullptr;
  };
  RtlUnwindStep(const StackCopy& stack, const ModuleView& modules) noexcept
      : RtlUnwindStep(stack, modules, Known{}) {}
  RtlUnwindStep(const StackCopy& stack, const ModuleView& modules, const Known& known) noexcept;

  StepResult step(Cursor& frame, LeafRule leaf) noexcept override;

  // The step for code without unwind data, which also knows how to read code.
  LeafStep& leaf() noexcept { return leaf_; }
  const MemoryReader& code() const noexcept { return memory_; }

 private:
  // An entry of a function table: where the entry is, and the base of its RVAs.
  struct Function {
    RUNTIME_FUNCTION* entry = nullptr;  // null if there is none
    DWORD64 image_base = 0;
  };
  struct Unwind;
  static Function look_up(Unwind& unwind) noexcept;
  static void unwind(void* call);
  static void unwind_body(const UnwindMemory& memory, const FunctionEntry& entry, std::uint64_t ip,
                          Unwind& unwind) noexcept;
  LeafCode leaf_code_at(std::uint64_t ip) noexcept;
  // `callee` is the image of the frame stepped from, or null; `guessed` says whether that frame was a guess.
  StepFault check_caller(const Cursor& caller, const ModuleSpan* callee, bool guessed) noexcept;

  const StackCopy& stack_;
  const ModuleView& modules_;
  EntryHints* const hints_;
  LiveMemory own_outside_;
  LiveMemory& outside_;
  KnownMemory memory_;
  LeafStep leaf_;
  // The caller to which the last step led.
  struct {
    std::uint64_t lookup_ip = 0;
    const ModuleSpan* module = nullptr;  // null if the caller is outside the images
  } caller_;
  CONTEXT context_;
};

}  // namespace mixwalk
