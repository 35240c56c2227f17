#pragma once

#include <windows.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "unmanaged/win/unique_handle.h"
#include "walker/base/failure.h"

namespace mixwalk {

// Which code writes the memory into a dump. The system's MiniDumpWriteDump always writes everything else.
enum class MemoryBy {
  system,  // MiniDumpWriteDump
  us,      // append_memory: where MiniDumpWriteDump is Wine's, which reads and writes 1 KiB at a time
};
MemoryBy usual_memory_writer() noexcept;

// Writes a minidump of a live process with all of its memory, in a thread of its own. The process is suspended from
// start() until everything is written, or until cancel(). Nothing is loaded into it. Not frozen-safe.
class MinidumpWriter {
 public:
  // The rights that `process` must have. dbghelp duplicates handles to find out what they are.
  static constexpr DWORD kRights = PROCESS_QUERY_INFORMATION | PROCESS_VM_READ | PROCESS_DUP_HANDLE | SYNCHRONIZE;

  // `process` and `file` must outlive the writing. `file`: an empty file on a disk, opened with GENERIC_WRITE.
  // `after_first_piece`: for tests, and only with MemoryBy::us. The thread that writes calls it when the first memory
  // is in the file.
  static Outcome<MinidumpWriter> start(HANDLE process, std::uint32_t process_id, HANDLE file,
                                       MemoryBy memory = usual_memory_writer(),
                                       std::function<void()> after_first_piece = {});

  // Returns true if the writing is over, and the process runs again.
  bool wait(DWORD milliseconds) const noexcept;
  // Ends the writing early and resumes the process. Where the writer can be stopped, cancel() waits for its end. Wine
  // 8's MiniDumpWriteDump cannot be stopped: it goes on, in vain, until mixwalk.exe ends, which must be the next thing
  // to do.
  void cancel() noexcept;

  // To be called once wait() has returned true. Returns an empty text if written, as far as the system says, otherwise
  // the reason, one line.
  std::string error() const;
  // Once the process runs again.
  std::uint64_t frozen_ns() const noexcept;
  std::size_t threads() const noexcept;

 private:
  struct Job;
  static DWORD WINAPI run(void* job) noexcept;
  MinidumpWriter(std::shared_ptr<Job> job, UniqueHandle thread);

  std::shared_ptr<Job> job_;  // the thread has its share of it
  UniqueHandle thread_;
};

}  // namespace mixwalk
