#include "walker/target/suspension/outside_thread.h"

#include "unmanaged/win/thread_information.h"
#include "walker/session/win/token.h"
#include "walker/suspended/win/thread_context.h"

namespace mixwalk {

bool OutsideThread::open(std::uint32_t thread_id, std::uint32_t process_id) noexcept {
  handle_ = open_thread(THREAD_SUSPEND_RESUME | THREAD_GET_CONTEXT | THREAD_QUERY_INFORMATION, thread_id);
  if (!handle_) return false;
  const auto info = thread_information(handle_.get());
  // Since the thread was listed, its id may have been given to a thread of another process.
  if (!info || info->process_id != process_id) return false;
  id_ = thread_id;
  teb_ = info->teb;
  return teb_ != 0;
}

Suspend OutsideThread::suspend() noexcept {
  entry_.begin(id_);
  const DWORD before = SuspendThread(handle_.get());
  if (before == static_cast<DWORD>(-1)) {
    entry_.end();
    return Suspend::ending;
  }
  entry_.set_suspended(before);
  suspended_before_ = before;
  return Suspend::done;
}

void OutsideThread::resume() noexcept {
  entry_.resumes();
  ResumeThread(handle_.get());
  entry_.end();
}

bool OutsideThread::read_registers(Registers& registers) noexcept {
  return read_context(handle_.get()).put(registers, in_dispatch_);
}

}  // namespace mixwalk
