#include "walker/outside/writing/minidump_writer.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "unmanaged/win/utf8.h"
#include "walker/outside/writing/minidump_memory.h"
#include "walker/session/win/thread_list.h"
#include "walker/session/win/token.h"
#include "walker/session/win/win_error.h"
#include "walker/target/suspension/process_suspension.h"

namespace mixwalk {
namespace {

// The same type as that of `procdump -ma` and Task Manager. Memory that becomes unreadable meanwhile is left out.
constexpr int kTables = MiniDumpWithFullMemoryInfo | MiniDumpWithHandleData | MiniDumpWithThreadInfo |
                        MiniDumpWithUnloadedModules | MiniDumpIgnoreInaccessibleMemory;

// The writer asks whether the handle of the process is a snapshot; S_FALSE means yes (Microsoft Learn, "Generate Dump
// File from a Process Snapshot"). mingw-w64's dbghelp.h does not have this value of MINIDUMP_CALLBACK_TYPE.
constexpr ULONG kIsProcessSnapshotCallback = 16;

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

bool is_disk_full(DWORD error) noexcept { return error == ERROR_DISK_FULL || error == ERROR_HANDLE_DISK_FULL; }

DWORD make_empty(HANDLE file) noexcept {
  const LARGE_INTEGER begin{};
  return SetFilePointerEx(file, begin, nullptr, FILE_BEGIN) && SetEndOfFile(file) ? ERROR_SUCCESS : GetLastError();
}

// The system's error after MiniDumpWriteDump returned `written`. It sets an HRESULT where other functions set a system
// error.
DWORD error_after(BOOL written) noexcept {
  const DWORD error = GetLastError();
  if (written) return ERROR_SUCCESS;
  if (error == ERROR_SUCCESS) return ERROR_WRITE_FAULT;
  return HRESULT_FACILITY(error) == FACILITY_WIN32 && FAILED(static_cast<HRESULT>(error)) ? HRESULT_CODE(error) : error;
}

}  // namespace

struct MinidumpWriter::Job {
  Job(Dbghelp library, HANDLE of, std::uint32_t id, HANDLE into, MemoryBy by, WriterHooks with)
      : dbghelp(library), process(of), process_id(id), file(into), memory(by), hooks(std::move(with)) {}

  void prepare();
  DWORD write();
  std::optional<DWORD> write_clone();
  DWORD capture(ProcessSnapshot& snapshot, std::vector<DumpedName>& names_then);
  DWORD suspend_again();
  std::vector<DumpedName> names() const;
  DWORD write_suspended();
  DWORD write_by_system();
  static BOOL CALLBACK on_callback(void* job, const PMINIDUMP_CALLBACK_INPUT input, PMINIDUMP_CALLBACK_OUTPUT output);

  const Dbghelp dbghelp;
  const HANDLE process;
  const std::uint32_t process_id;
  const HANDLE file;
  const MemoryBy memory;
  WriterHooks hooks;
  UniqueHandle original;     // of the process, with the rights to clone it
  std::string why_no_clone;  // empty while a clone may still be written
  bool clone_at_work = false;
  std::mutex mutex;  // for a change of `suspension`, and for `cancelled` meanwhile
  std::unique_ptr<ProcessSuspension> suspension;
  std::uint64_t frozen_before_ns = 0;  // in earlier suspensions
  std::atomic<bool> cancelled{false};
  std::atomic<bool> can_cancel{false};  // the writer asks whether it should end
  DWORD error = ERROR_SUCCESS;
};

BOOL CALLBACK MinidumpWriter::Job::on_callback(void* param, const PMINIDUMP_CALLBACK_INPUT input,
                                               PMINIDUMP_CALLBACK_OUTPUT output) {
  Job& job = *static_cast<Job*>(param);
  const bool wine_writes = job.memory == MemoryBy::us && !job.clone_at_work;
  const ULONG64 max_stack_bytes = wine_writes ? kMaxWineStackBytes : kMaxStackBytes;
  switch (input->CallbackType) {
    case kIsProcessSnapshotCallback:
      if (!job.clone_at_work) return FALSE;
      output->Status = S_FALSE;
      return TRUE;
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

// All that can be done before the process stands.
void MinidumpWriter::Job::prepare() {
  // Folklore: if SymInitialize was not called for the process, Wine 8's MiniDumpWriteDump calls it, and makes it load
  // the symbols of every module. If the process is a .NET process, its SymCleanup then frees an address that was not
  // allocated (a page fault in ntdll's unsafe_block_from_ptr). SymInitialize(…, TRUE) and SymCleanup alone do the same.
  // Remedy: the call below. It loads no symbols, and after it Wine's writer does neither. Windows does not need the
  // call, and its result does not matter. (Test: dump_file_test.)
  dbghelp.initialise(process, nullptr, FALSE);
  if (!hooks.snapshots) {
    why_no_clone = "this system cannot clone processes";
    return;
  }
  original = open_process(ProcessSnapshot::kRights, process_id);
  why_no_clone = original ? no_room_for_clone(process, hooks.snapshots)
                          : "mixwalk has no right to clone it: " + last_error();
}

// The names of the suspended threads.
std::vector<DumpedName> MinidumpWriter::Job::names() const {
  std::vector<DumpedName> names;
  for (const auto& thread : suspension->threads()) {
    const std::wstring name = to_utf16(thread_description(thread.handle.get()));
    if (!name.empty()) names.push_back({thread.id, std::u16string(name.begin(), name.end())});
  }
  return names;
}

// Returns the system's error.
DWORD MinidumpWriter::Job::capture(ProcessSnapshot& snapshot, std::vector<DumpedName>& names_then) {
  names_then = names();
  if (!suspension->begin_writing()) return ERROR_CANCELLED;
  DWORD error = ERROR_NOT_ENOUGH_MEMORY;
  if (const SuspensionLimit limit(*suspension, hooks.clone_ms); limit) error = snapshot.capture(original.get());
  suspension->end_writing();
  if (error != ERROR_SUCCESS) return error;
  // If the threads were resumed before this, the clone's memory and registers are not of one moment.
  return suspension->end() ? ERROR_SUCCESS : ERROR_TIMEOUT;
}

// Returns the result. Returns nothing if no clone can be written, and then why_no_clone is set, and the file is empty.
std::optional<DWORD> MinidumpWriter::Job::write_clone() {
  ProcessSnapshot snapshot(hooks.snapshots);
  std::vector<DumpedName> names_then;
  if (const DWORD why = capture(snapshot, names_then); why != ERROR_SUCCESS) {
    if (cancelled) return ERROR_CANCELLED;
    why_no_clone = "the system did not clone it: " + error_text(why);
    return std::nullopt;
  }
  clone_at_work = true;
  const auto type = static_cast<MINIDUMP_TYPE>(kTables | MiniDumpWithFullMemory);
  MINIDUMP_CALLBACK_INFORMATION callback{&Job::on_callback, this};
  // A snapshot has no names of threads, so it is not certain that the writer records them.
  std::vector<std::byte> room(names_room(names_then));
  MINIDUMP_USER_STREAM stream{kNamesRoomStream, static_cast<ULONG>(room.size()), room.data()};
  MINIDUMP_USER_STREAM_INFORMATION streams{1, &stream};
  const DWORD why = error_after(
      hooks.write_clone ? hooks.write_clone(snapshot.handle(), process_id, file, type, &streams, &callback)
                        : dbghelp.write(snapshot.handle(), process_id, file, type, nullptr, &streams, &callback));
  clone_at_work = false;
  if (cancelled) return ERROR_CANCELLED;
  if (why == ERROR_SUCCESS) return add_names(file, names_then);
  if (is_disk_full(why)) return why;
  why_no_clone = "MiniDumpWriteDump did not write the clone: " + error_text(why);
  can_cancel = false;
  if (const DWORD not_empty = make_empty(file); not_empty != ERROR_SUCCESS) return not_empty;
  return std::nullopt;
}

// Ensures that the process stands. Returns the system's error.
DWORD MinidumpWriter::Job::suspend_again() {
  const std::lock_guard lock(mutex);
  if (cancelled) return ERROR_CANCELLED;
  if (suspension->frozen_ns() == 0) return ERROR_SUCCESS;  // the process still stands
  frozen_before_ns += suspension->frozen_ns();
  suspension = std::make_unique<ProcessSuspension>(process_id);
  return suspension->threads().empty() ? ERROR_PROCESS_ABORTED : ERROR_SUCCESS;
}

DWORD MinidumpWriter::Job::write_by_system() {
  const int type = kTables | (memory == MemoryBy::system ? MiniDumpWithFullMemory : MiniDumpNormal);
  MINIDUMP_CALLBACK_INFORMATION callback{&Job::on_callback, this};
  if (!suspension->begin_writing()) return ERROR_CANCELLED;
  const DWORD why = error_after(
      dbghelp.write(process, process_id, file, static_cast<MINIDUMP_TYPE>(type), nullptr, nullptr, &callback));
  suspension->end_writing();
  return why;
}

DWORD MinidumpWriter::Job::write_suspended() {
  if (const DWORD why = write_by_system(); why != ERROR_SUCCESS || memory == MemoryBy::system) return why;
  can_cancel = true;
  return append_memory(process, file, names(), cancelled, hooks.after_first_piece);
}

DWORD MinidumpWriter::Job::write() {
  if (why_no_clone.empty()) {
    if (const auto result = write_clone()) return *result;
    if (const DWORD why = suspend_again(); why != ERROR_SUCCESS) return why;
  }
  const DWORD why = write_suspended();
  // The writers report success for a process that ended while they wrote, although memory is missing. Here that is an
  // error.
  const bool ended = WaitForSingleObject(process, 0) == WAIT_OBJECT_0;
  return why == ERROR_SUCCESS && ended ? static_cast<DWORD>(ERROR_PROCESS_ABORTED) : why;
}

DWORD WINAPI MinidumpWriter::run(void* param) noexcept {
  const std::unique_ptr<std::shared_ptr<Job>> owner(static_cast<std::shared_ptr<Job>*>(param));
  Job& job = **owner;
  try {
    job.error = job.write();
  } catch (...) {
    job.error = ERROR_NOT_ENOUGH_MEMORY;
  }
  job.suspension->end();
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
  job->prepare();
  job->suspension = std::make_unique<ProcessSuspension>(process_id);
  // A dump of a running process would have stacks of many moments, without any sign of it.
  if (job->suspension->threads().empty()) return Failure{ExitCode::internal, "none of its threads can be suspended"};
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
  {
    const std::lock_guard lock(job_->mutex);
    job_->cancelled = true;
    job_->suspension->end();
  }
  // A writer that can be stopped has itself suspended the threads once more, and resumes them before it returns. It may
  // not yet have asked whether it should end.
  if (!wait(kAskMs) && job_->can_cancel) wait(INFINITE);
}

std::string MinidumpWriter::error() const {
  return job_->error == ERROR_SUCCESS ? std::string() : error_text(job_->error);
}

const std::string& MinidumpWriter::why_no_clone() const { return job_->why_no_clone; }
std::uint64_t MinidumpWriter::frozen_ns() const noexcept {
  return job_->frozen_before_ns + job_->suspension->frozen_ns();
}
std::size_t MinidumpWriter::threads() const noexcept { return job_->suspension->threads().size(); }

}  // namespace mixwalk
