#pragma once

#include "symbols/win/clr_il_source.h"
#include "symbols/win/clr_metadata_source.h"
#include "symbols/win/clr_stub_targets.h"
#include "symbols/win/profiling_api.h"
#include "walker/merge/merge.h"
#include "walker/profiler/unload_gate.h"

namespace mixwalk {

// Answers of the CLR about code addresses and functions while nothing is frozen.
class ClrManagedCode final : public ManagedCode {
 public:
  // `info8` may be null (.NET Framework); stubs are then code without a FunctionID. `gate` is null if no code can be
  // unloaded. That is so in a callback, on a thread that asks about its own stack.
  ClrManagedCode(clr::ICorProfilerInfo3& info, clr::ICorProfilerInfo8* info8,
                 ClrMetadataSource& names, UnloadGate* gate) noexcept
      : info_(info), info8_(info8), names_(names), gate_(gate) {}

  // From here on, questions are about code that was loaded at that mark.
  void begin(const UnloadGate::Mark& mark) noexcept {
    mark_ = mark;
    lost_ = false;
  }
  // Whether an answer was missing since begin(), because code was unloaded, or because there was no memory for the
  // answer.
  bool lost() const noexcept { return lost_; }

  Function at(std::uint64_t ip) noexcept override;
  // Returns null if the function may have been unloaded.
  const ManagedName* name(clr::FunctionID function);
  // The place of a function with metadata in its IL, at an address inside an instruction. Returns null if the code was
  // unloaded.
  const ClrIlSource::Place* il_place(ClrIlSource& source, clr::FunctionID function, std::uint64_t ip);
  // What a frame with a StackFrame::callee has called, in the form of Frame::target. The frame is that of a stub, or of
  // a managed method with an inlined P/Invoke. The modules that the text needs are added to `modules`. Returns an empty
  // text if the target is not known, as that of an inlined P/Invoke that another module than the method's own declares.
  std::string native_target(ClrStubTargets& targets, const StackFrame& frame, std::vector<clr::ModuleID>& modules);

 private:
  Function ask(std::uint64_t ip);
  const ManagedName* dynamic_name(clr::FunctionID function);

  clr::ICorProfilerInfo3& info_;
  clr::ICorProfilerInfo8* info8_;
  ClrMetadataSource& names_;
  UnloadGate* gate_;
  UnloadGate::Mark mark_;
  bool lost_ = false;
};

}  // namespace mixwalk
