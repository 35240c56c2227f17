#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "symbols/win/profiling_api.h"
#include "walker/suspended/win/supervisor.h"
#include "walker/suspended/win/windows_thread.h"

namespace mixwalk::bench {

// The peer: it does what a continuous profiler for .NET Framework does with a frozen thread. It unwinds the topmost
// native frames in place with RtlVirtualUnwind until the CLR knows the address, and lets DoStackSnapshot begin at that
// frame. It asks only for FunctionIDs, without a copy of the stack and without the registers at the native gaps between
// managed frames. Not frozen-safe, just as that profiler is not: RtlLookupFunctionEntry may wait for the frozen thread.
class ManagedOnlyWalk {
 public:
  ManagedOnlyWalk(clr::ICorProfilerInfo3& info, Supervisor& supervisor) noexcept
      : info_(info), supervisor_(supervisor) {}

  // The thread must already be suspended. Returns false if its context could not be read.
  bool walk(const WindowsThread& thread, std::uint64_t clr_thread) noexcept;
  std::size_t frames() const noexcept { return count_; }

 private:
  bool find_seed(CONTEXT& context) const noexcept;
  static HRESULT STDMETHODCALLTYPE frame(clr::FunctionID function, UINT_PTR ip, clr::FrameInfo info,
                                         ULONG32 context_size, BYTE context[], void* self) noexcept;

  clr::ICorProfilerInfo3& info_;
  Supervisor& supervisor_;
  std::array<clr::FunctionID, 8192> functions_{};
  std::size_t count_ = 0;
};

}  // namespace mixwalk::bench
