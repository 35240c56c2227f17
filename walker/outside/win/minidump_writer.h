#pragma once

#include <windows.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "unmanaged/win/unique_handle.h"
#include "walker/base/failure.h"

namespace mixwalk {

// The code that writes the memory into a dump. The system's MiniDumpWriteDump always writes everything else.
enum class MemoryBy {
  system,  // MiniDumpWriteDump
  us,      // append_memory, used with Wine's MiniDumpWriteDump, which works in steps of 1 KiB
};
// Returns `us` if the system's MiniDumpWriteDump is Wine's. Under Wine it may also be Microsoft's.
MemoryBy usual_memory_writer() noexcept;

// For tests. The thread that writes calls these functions.
struct WriterHooks {
  std::function<void()> at_first_thread = {};    // the system's writer asks what to write of the first thread
  std::function<void()> after_first_piece = {};  // the first memory is in the file; only with MemoryBy::us
};

// Writes a minidump of a live process with all of its memory, in a separate thread. The process is suspended from
// start() until everything is written, or until cancel(). Nothing is loaded into it. Not frozen-safe.
class MinidumpWriter {
 public:
  // The rights that `process` must have. dbghelp duplicates the process's handles to find out what they are.
  static constexpr DWORD kRights = PROCESS_QUERY_INFORMATION | PROCESS_VM_READ | PROCESS_DUP_HANDLE | SYNCHRONIZE;

  // `process` and `file` must outlive the writing. `file`: an empty file on a disk, opened with GENERIC_WRITE.
  static Outcome<MinidumpWriter> start(HANDLE process, std::uint32_t process_id, HANDLE file,
                                       MemoryBy memory = usual_memory_writer(), WriterHooks hooks = {});

  // Returns true if the writing is over, and the process runs again.
  bool wait(DWORD milliseconds) const noexcept;
  // Ends the writing early and resumes the process. If the writer can be stopped, cancel() waits for its end. Wine 8's
  // MiniDumpWriteDump cannot be stopped: it continues, without effect, until mixwalk.exe ends, so mixwalk.exe must end
  // next.
  void cancel() noexcept;

  // To be called once wait() has returned true. Returns an empty text if the dump was written, as far as the system
  // says, otherwise the reason why not, in one line.
  std::string error() const;
  // To be called once the process runs again.
  std::uint64_t frozen_ns() const noexcept;
  std::size_t threads() const noexcept;

 private:
  struct Job;
  static DWORD WINAPI run(void* job) noexcept;
  MinidumpWriter(std::shared_ptr<Job> job, UniqueHandle thread);

  std::shared_ptr<Job> job_;  // shared with the thread
  UniqueHandle thread_;
};

}  // namespace mixwalk
