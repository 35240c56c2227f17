#pragma once

#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/leaf_step.h"
#include "unmanaged/step/module_view.h"
#include "unmanaged/step/outside_memory.h"
#include "unmanaged/step/unwind_step.h"

namespace mixwalk {

// Makes one step by the images' own .pdata, decoded here. Frozen-safe: no OS call, no lock, no allocation; every byte
// comes through the two readers. Jitted code cannot be unwound here, because only the system's dynamic function table
// has its unwind data: a frame outside every image gives no_unwind. For a frame without unwind data, LeafStep finds the
// caller with the help of `outside`.
class TableUnwindStep final : public UnwindStep {
 public:
  TableUnwindStep(const ModuleView& modules, const MemoryReader& code, const MemoryReader& stack,
                  OutsideMemory& outside) noexcept
      : modules_(modules), code_(code), stack_(stack), leaf_(modules, code, stack, outside) {}

  StepResult step(Cursor& frame, LeafRule leaf) noexcept override;

 private:
  const ModuleView& modules_;
  const MemoryReader& code_;
  const MemoryReader& stack_;
  LeafStep leaf_;
};

}  // namespace mixwalk
