#pragma once

#include "unmanaged/step/dispatchers.h"
#include "unmanaged/step/leaf_step.h"
#include "unmanaged/step/table_unwind_step.h"
#include "walker/clr/jitted_step.h"
#include "walker/target/function_tables.h"
#include "walker/target/hidden_images.h"
#include "walker/target/target.h"

namespace mixwalk {

// The knowledge about a target's code besides its images' unwind data.
struct OutsideCode {
  JittedStep* jitted = nullptr;  // null if nothing is known about jitted code
  // Whether code that `jitted` does not know is not the runtime's. If so, its callers may be guessed; otherwise the
  // walk ends there.
  bool foreign = false;
  Dispatchers dispatchers{};
  // An address at which the thread could execute nothing, so that the word at Rsp is a return address; 0: there is
  // none.
  std::uint64_t not_executed = 0;
  // Knows the images that were unloaded. Null: none is known.
  const Target* target = nullptr;
  // Finds images that the target's list lacks. Null: code in them is like any other code outside the images.
  HiddenImages* unlisted = nullptr;
  // The function tables that the program has registered. Null: none is known.
  FunctionTables* tables = nullptr;
};

// One step in a target that is read from outside. In images it uses their .pdata (TableUnwindStep), in other code
// OutsideCode. The caller is checked in the same way as in a live walk (check_caller). Not frozen-safe. One object
// serves one stack, whose copy must not have been rewritten.
class TargetStep final : public UnwindStep {
 public:
  TargetStep(const ModuleView& modules, const MemoryReader& memory, const StackCopy& stack, OutsideMemory& outside,
             const OutsideCode& code) noexcept
      : modules_(modules),
        memory_(memory),
        stack_(stack),
        outside_(outside),
        code_(code),
        table_(modules, memory, stack, outside),
        leaf_(modules, memory, stack, outside) {}

  StepResult step(Cursor& frame, LeafRule leaf) noexcept override;

  LeafStep& leaf() noexcept { return leaf_; }
  // Whether a step was made by a function table that the program has registered.
  bool used_tables() const noexcept { return used_tables_; }

 private:
  StepResult step_outside(Cursor& frame, LeafRule leaf) noexcept;
  StepResult step_by_table(const FunctionTables::Found& found, Cursor& frame) noexcept;
  // The beginning of the frame's function, by its image's unwind data; 0 if unknown.
  std::uint64_t function_begin(const Cursor& frame, const ModuleSpan& module) noexcept;
  bool calls_function_of(const Cursor& caller, const Cursor& frame, const ModuleSpan& module) noexcept;

  const ModuleView& modules_;
  const MemoryReader& memory_;
  const StackCopy& stack_;
  OutsideMemory& outside_;
  OutsideCode code_;
  TableUnwindStep table_;
  LeafStep leaf_;
  bool used_tables_ = false;
};

}  // namespace mixwalk
