#include "walker/suspended/win/thread_handle.h"

#include "unmanaged/win/guarded.h"
#include "unmanaged/win/thread_information.h"

namespace mixwalk {
namespace {

constexpr DWORD kAccess = THREAD_SUSPEND_RESUME | THREAD_GET_CONTEXT | THREAD_QUERY_INFORMATION;

}  // namespace

bool ThreadHandle::open(DWORD thread_id) noexcept {
  // The system gives an id to no other thread while a handle of this one is open.
  if (handle_ && id_ == thread_id) return true;
  id_ = 0;
  handle_ = UniqueHandle(OpenThread(kAccess, FALSE, thread_id));
  if (!handle_) return false;
  const auto info = thread_information(handle_.get());
  if (!info) return false;
  teb_ = info->teb;
  if (teb_ == 0) return false;
  id_ = thread_id;
  return true;
}

DWORD ThreadHandle::refusal() const noexcept {
  CONTEXT context;
  context.ContextFlags = CONTEXT_CONTROL;
  if (GetThreadContext(handle_.get(), &context)) return 0;
  const DWORD error = GetLastError();
  DWORD code = 0;
  return GetExitCodeThread(handle_.get(), &code) && code == STILL_ACTIVE ? error : 0;
}

StackLimits ThreadHandle::stack_limits() const noexcept {
  // NT_TIB is the beginning of the TEB. The copy is guarded, because the TEB of a thread that ended meanwhile may no
  // longer exist.
  NT_TIB tib;
  if (!guarded_copy(&tib, teb_, sizeof tib)) return {};
  return {reinterpret_cast<std::uint64_t>(tib.StackLimit),
          reinterpret_cast<std::uint64_t>(tib.StackBase)};
}

}  // namespace mixwalk
