#pragma once

#include <windows.h>

#include <new>

namespace mixwalk {

// Barriers for the entries into this DLL: the runtime's callbacks and the start functions of our threads. No exception
// of ours may leave this DLL, because it would unwind through coreclr, or end the program. Not frozen-safe.

// How a piece of work ended.
enum class WorkEnd {
  done,
  no_memory,  // std::bad_alloc: the program has no memory left
  defect,     // any other exception
};

template <class Work>
WorkEnd run_guarded(Work&& work) noexcept {
  try {
    work();
    return WorkEnd::done;
  } catch (const std::bad_alloc&) {
    return WorkEnd::no_memory;
  } catch (...) {
    return WorkEnd::defect;
  }
}

// Preserves the thread's last error. A callback runs between two instructions of the program; the first may have set
// the last error, and the second may read it.
class LastErrorKept {
 public:
  LastErrorKept() noexcept : error_(GetLastError()) {}
  ~LastErrorKept() { SetLastError(error_); }
  LastErrorKept(const LastErrorKept&) = delete;
  LastErrorKept& operator=(const LastErrorKept&) = delete;

 private:
  const DWORD error_;
};

// Runs a callback of the runtime. `work` returns the callback's HRESULT.
template <class Work>
HRESULT answer_runtime(Work&& work) noexcept {
  const LastErrorKept last_error;
  HRESULT result = E_FAIL;
  const WorkEnd end = run_guarded([&] { result = work(); });
  return end == WorkEnd::no_memory ? E_OUTOFMEMORY : result;
}

}  // namespace mixwalk
