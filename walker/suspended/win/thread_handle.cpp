#include "walker/suspended/win/thread_handle.h"

#include <winternl.h>

#include "unmanaged/win/context.h"
#include "unmanaged/win/guarded.h"

namespace mixwalk {
namespace {

// THREAD_BASIC_INFORMATION (ThreadBasicInformation = 0); winternl.h leaves it out.
struct ThreadBasicInfo {
  NTSTATUS exit_status;
  void* teb;
  HANDLE process_id;
  HANDLE thread_id;
  ULONG_PTR affinity;
  LONG priority;
  LONG base_priority;
};

constexpr DWORD kAccess = THREAD_SUSPEND_RESUME | THREAD_GET_CONTEXT | THREAD_QUERY_INFORMATION;

}  // namespace

bool ThreadHandle::open(DWORD thread_id) noexcept {
  // The system gives an id to no other thread while a handle of this one is open.
  if (handle_ && id_ == thread_id) return true;
  id_ = 0;
  handle_ = UniqueHandle(OpenThread(kAccess, FALSE, thread_id));
  if (!handle_) return false;
  ThreadBasicInfo info{};
  if (NtQueryInformationThread(handle_.get(), static_cast<THREADINFOCLASS>(0), &info, sizeof info,
                               nullptr) < 0) {
    return false;
  }
  teb_ = reinterpret_cast<std::uint64_t>(info.teb);
  if (teb_ == 0) return false;
  id_ = thread_id;
  return true;
}

bool ThreadHandle::read_registers(Registers& registers) const noexcept {
  CONTEXT context;
  context.ContextFlags = CONTEXT_CONTROL | CONTEXT_INTEGER;
  if (!GetThreadContext(handle_.get(), &context)) return false;
  registers = registers_of(context);
  return true;
}

StackLimits ThreadHandle::stack_limits() const noexcept {
  // NT_TIB begins the TEB. The TEB of a thread that ended meanwhile may be gone: guarded.
  NT_TIB tib;
  if (!guarded_copy(&tib, teb_, sizeof tib)) return {};
  return {reinterpret_cast<std::uint64_t>(tib.StackLimit),
          reinterpret_cast<std::uint64_t>(tib.StackBase)};
}

}  // namespace mixwalk
