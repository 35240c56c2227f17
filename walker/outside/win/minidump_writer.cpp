#include "walker/outside/win/minidump_writer.h"

#include <dbghelp.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "unmanaged/win/utf8.h"
#include "walker/outside/win/minidump_memory.h"
#include "walker/outside/win/process_suspension.h"
#include "walker/session/win/thread_list.h"
#include "walker/session/win/win_error.h"

namespace mixwalk {
namespace {

// The same type as that of `procdump -ma` and Task Manager. Memory that becomes unreadable meanwhile is left out.
constexpr int kTables = MiniDumpWithFullMemoryInfo | MiniDumpWithHandleData | MiniDumpWithThreadInfo |
                        MiniDumpWithUnloadedModules | MiniDumpIgnoreInaccessibleMemory;

// The most of a thread's stack that is read. For Windows' writer this is the committed size of the largest real stacks;
// for Wine's writer it is the amount that it reads in a second.
constexpr ULONG64 kMaxStackBytes = 64 << 20, kMaxWineStackBytes = 1 << 20;

// By this time Windows' writer has asked for the first time whether it should end.
constexpr DWORD kAskMs = 500;

struct Dbghelp {
  decltype(&::SymInitializeW) initialise = nullptr;
  decltype(&::MiniDumpWriteDump) write = nullptr;

  explicit operator bool() const noexcept { return initialise != nullptr && write != nullptr; }
};

// The system's own library (dbghelp), which nothing else in mixwalk needs. It is never unloaded, because a writer that
// cannot be stopped may still be running in it.
Dbghelp load_dbghelp() noexcept {
  const HMODULE library = LoadLibraryExW(L"dbghelp.dll", nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32);
  if (library == nullptr) return {};
  const auto find = [&](const char* name) { return reinterpret_cast<void*>(GetProcAddress(library, name)); };
  return {reinterpret_cast<decltype(Dbghelp::initialise)>(find("SymInitializeW")),
          reinterpret_cast<decltype(Dbghelp::write)>(find("MiniDumpWriteDump"))};
}

// Whether the function is in a DLL of Wine. Wine has these words behind the DOS header of each of its DLLs. Under Wine,
// Microsoft's dbghelp.dll may be installed, and its MiniDumpWriteDump is in dbgcore.dll.
bool is_of_wine(const void* function) noexcept {
  constexpr char kWords[] = "Wine builtin DLL";
  HMODULE library = nullptr;
  return GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                            static_cast<const wchar_t*>(function), &library) &&
         std::memcmp(reinterpret_cast<const IMAGE_DOS_HEADER*>(library) + 1, kWords, sizeof kWords - 1) == 0;
}

// The writer trusts the limits of a thread's stack in its TEB. Folklore: Wine 8's writer reads 1 KiB at a time, even if
// there is no memory, and takes minutes for 4 GiB. Real case: a program that starts and ends threads without a pause,
// one dump in three. Remedy: such a stack is left out. The dump still contains it, because it is part of the process's
// memory, and the dump contains that memory.
void skip_implausible_stack(ULONG64 base, ULONG64 end, ULONG64 most, MINIDUMP_CALLBACK_OUTPUT& output) noexcept {
  if (std::max(base, end) - std::min(base, end) > most) output.ThreadWriteFlags &= ~ULONG{ThreadWriteStack};
}

// MiniDumpWriteDump sets an HRESULT where other functions set a system error.
DWORD system_error(DWORD error) noexcept {
  return HRESULT_FACILITY(error) == FACILITY_WIN32 && FAILED(static_cast<HRESULT>(error)) ? HRESULT_CODE(error) : error;
}

}  // namespace

struct MinidumpWriter::Job {
  Job(Dbghelp library, HANDLE of, std::uint32_t id, HANDLE into, MemoryBy by, WriterHooks for_tests)
      : dbghelp(library), process(of), process_id(id), file(into), memory(by), hooks(std::move(for_tests)),
        suspension(id) {}

  DWORD write();
  DWORD write_by_system();
  static BOOL CALLBACK on_callback(void* job, const PMINIDUMP_CALLBACK_INPUT input, PMINIDUMP_CALLBACK_OUTPUT output);

  const Dbghelp dbghelp;
  const HANDLE process;
  const std::uint32_t process_id;
  const HANDLE file;
  const MemoryBy memory;
  WriterHooks hooks;
  ProcessSuspension suspension;
  std::atomic<bool> cancelled{false};
  std::atomic<bool> can_cancel{false};  // the writer asks whether it should end
  DWORD error = ERROR_SUCCESS;
};

BOOL CALLBACK MinidumpWriter::Job::on_callback(void* param, const PMINIDUMP_CALLBACK_INPUT input,
                                               PMINIDUMP_CALLBACK_OUTPUT output) {
  Job& job = *static_cast<Job*>(param);
  const ULONG64 max_stack_bytes = job.memory == MemoryBy::us ? kMaxWineStackBytes : kMaxStackBytes;
  switch (input->CallbackType) {
    case CancelCallback:
      job.can_cancel = true;
      output->CheckCancel = TRUE;
      output->Cancel = job.cancelled;
      return TRUE;
    case ReadMemoryFailureCallback:
      output->Status = S_OK;  // the dump continues without that memory
      return TRUE;
    // All modules and threads are included, with the data that the dump's type requires.
    case IncludeModuleCallback:
    case IncludeThreadCallback:
    case ModuleCallback: return TRUE;
    case ThreadCallback:
      if (const auto call = std::exchange(job.hooks.at_first_thread, {})) call();
      skip_implausible_stack(input->Thread.StackBase, input->Thread.StackEnd, max_stack_bytes, *output);
      return TRUE;
    case ThreadExCallback:
      skip_implausible_stack(input->ThreadEx.StackBase, input->ThreadEx.StackEnd, max_stack_bytes, *output);
      return TRUE;
    default: return FALSE;
  }
}

DWORD MinidumpWriter::Job::write_by_system() {
  // Folklore: if SymInitialize was not called for the process, Wine 8's MiniDumpWriteDump calls it, and makes it load
  // the symbols of every module. If the process is a .NET process, its SymCleanup then frees an address that was not
  // allocated (a page fault in ntdll's unsafe_block_from_ptr). SymInitialize(…, TRUE) and SymCleanup alone do the same.
  // Remedy: the call below. It loads no symbols, and after it Wine's writer does neither. Windows does not need the
  // call, and its result does not matter. (Test: dump_file_test.)
  dbghelp.initialise(process, nullptr, FALSE);
  const int type = kTables | (memory == MemoryBy::system ? MiniDumpWithFullMemory : MiniDumpNormal);
  MINIDUMP_CALLBACK_INFORMATION callback{&Job::on_callback, this};
  if (!suspension.begin_writing()) return ERROR_CANCELLED;
  const BOOL written =
      dbghelp.write(process, process_id, file, static_cast<MINIDUMP_TYPE>(type), nullptr, nullptr, &callback);
  const DWORD why = GetLastError();
  suspension.end_writing();
  if (written) return ERROR_SUCCESS;
  return why == ERROR_SUCCESS ? static_cast<DWORD>(ERROR_WRITE_FAULT) : system_error(why);
}

DWORD MinidumpWriter::Job::write() {
  if (const DWORD why = write_by_system(); why != ERROR_SUCCESS || memory == MemoryBy::system) return why;
  can_cancel = true;
  std::vector<DumpedName> names;
  for (const auto& thread : suspension.threads()) {
    const std::wstring name = to_utf16(thread_description(thread.handle.get()));
    if (!name.empty()) names.push_back({thread.id, std::u16string(name.begin(), name.end())});
  }
  return append_memory(process, file, names, cancelled, hooks.after_first_piece);
}

DWORD WINAPI MinidumpWriter::run(void* param) noexcept {
  const std::unique_ptr<std::shared_ptr<Job>> owner(static_cast<std::shared_ptr<Job>*>(param));
  Job& job = **owner;
  job.error = job.write();
  // The writers report success for a process that ended while they wrote, although memory is missing. Here that is an
  // error.
  const bool ended = WaitForSingleObject(job.process, 0) == WAIT_OBJECT_0;
  if (job.error == ERROR_SUCCESS && ended) job.error = ERROR_PROCESS_ABORTED;
  job.suspension.end();
  return 0;
}

MemoryBy usual_memory_writer() noexcept {
  const Dbghelp dbghelp = load_dbghelp();
  return dbghelp && is_of_wine(reinterpret_cast<const void*>(dbghelp.write)) ? MemoryBy::us : MemoryBy::system;
}

MinidumpWriter::MinidumpWriter(std::shared_ptr<Job> job, UniqueHandle thread)
    : job_(std::move(job)), thread_(std::move(thread)) {}

Outcome<MinidumpWriter> MinidumpWriter::start(HANDLE process, std::uint32_t process_id, HANDLE file,
                                              MemoryBy memory, WriterHooks hooks) {
  const Dbghelp dbghelp = load_dbghelp();
  if (!dbghelp) return Failure{ExitCode::internal, "the system's dbghelp.dll does not write dumps"};
  auto job = std::make_shared<Job>(dbghelp, process, process_id, file, memory, std::move(hooks));
  // A dump of a running process would have stacks of many moments, without any sign of it.
  if (job->suspension.threads().empty()) return Failure{ExitCode::internal, "none of its threads can be suspended"};
  auto share = std::make_unique<std::shared_ptr<Job>>(job);
  UniqueHandle thread(CreateThread(nullptr, 0, &MinidumpWriter::run, share.get(), 0, nullptr));
  if (!thread) return Failure{ExitCode::internal, "no thread to write the dump: " + last_error()};
  share.release();
  return MinidumpWriter(std::move(job), std::move(thread));
}

bool MinidumpWriter::wait(DWORD milliseconds) const noexcept {
  return WaitForSingleObject(thread_.get(), milliseconds) == WAIT_OBJECT_0;
}

void MinidumpWriter::cancel() noexcept {
  job_->cancelled = true;
  job_->suspension.end();
  // A writer that can be stopped has itself suspended the threads once more, and resumes them before it returns. It may
  // not yet have asked whether it should end.
  if (!wait(kAskMs) && job_->can_cancel) wait(INFINITE);
}

std::string MinidumpWriter::error() const {
  return job_->error == ERROR_SUCCESS ? std::string() : error_text(job_->error);
}

std::uint64_t MinidumpWriter::frozen_ns() const noexcept { return job_->suspension.frozen_ns(); }
std::size_t MinidumpWriter::threads() const noexcept { return job_->suspension.threads().size(); }

}  // namespace mixwalk
