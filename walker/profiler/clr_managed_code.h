#pragma once

#include <unordered_map>

#include "symbols/win/profiling_api.h"
#include "walker/merge.h"

namespace mixwalk {

// What the CLR says about code addresses while nothing is frozen. Remembers which functions are
// stubs for as long as it lives: make one a dump, a FunctionID may be used again later.
class ClrManagedCode final : public ManagedCode {
 public:
  // `info8` may be null (.NET Framework): stubs are then code without a FunctionID.
  ClrManagedCode(clr::ICorProfilerInfo3& info, clr::ICorProfilerInfo8* info8) noexcept
      : info_(info), info8_(info8) {}

  Function at(std::uint64_t ip) noexcept override;

 private:
  bool is_stub(clr::FunctionID function);

  clr::ICorProfilerInfo3& info_;
  clr::ICorProfilerInfo8* info8_;
  std::unordered_map<clr::FunctionID, bool> stubs_;
};

}  // namespace mixwalk
