#pragma once

#include <windows.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace mixwalk {

// The text in which a handle's value is passed to a process that inherits it, in hexadecimal.
inline std::string handle_text(HANDLE handle) {
  char text[24];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(handle)));
  return text;
}

// The handles that a process inherits: only these, even if others are inheritable. The process is in `job`, if that is
// not null, from its creation, if the system can do that (Windows 10).
//
// Folklore: CreateProcess creates a process that is suspended, and resumes it as its last step. Situation: mixwalk.exe
// is ended before that step, or before it has put the process into a job. Real case: a suspended process was left for
// ever in 6 of 19 kills that were aimed at this moment (Wine). Remedy: a job that ends its processes when mixwalk.exe
// ends. Test: Killed.TheProcessesThatItHasStartedEndToo.
class HandleList {
 public:
  explicit HandleList(std::vector<HANDLE> handles, HANDLE job = nullptr) : handles_(std::move(handles)), job_(job) {
    SIZE_T bytes = 0;
    InitializeProcThreadAttributeList(nullptr, 2, 0, &bytes);
    memory_.resize(bytes);
    initialized_ = InitializeProcThreadAttributeList(get(), 2, 0, &bytes);
    ready_ = initialized_ &&
             UpdateProcThreadAttribute(get(), 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles_.data(),
                                       handles_.size() * sizeof(HANDLE), nullptr, nullptr);
    with_job_ =
        ready_ && job != nullptr &&
        UpdateProcThreadAttribute(get(), 0, PROC_THREAD_ATTRIBUTE_JOB_LIST, &job_, sizeof job_, nullptr, nullptr);
  }
  ~HandleList() {
    if (initialized_) DeleteProcThreadAttributeList(get());
  }
  HandleList(const HandleList&) = delete;
  HandleList& operator=(const HandleList&) = delete;

  LPPROC_THREAD_ATTRIBUTE_LIST get() { return reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(memory_.data()); }
  bool ready() const { return ready_; }
  // Whether the process will be in the job.
  bool with_job() const { return with_job_; }

 private:
  std::vector<HANDLE> handles_;
  HANDLE job_;
  std::vector<std::byte> memory_;
  bool initialized_ = false, ready_ = false, with_job_ = false;
};

}  // namespace mixwalk
