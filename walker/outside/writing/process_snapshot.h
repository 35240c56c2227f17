#pragma once

#include <windows.h>

#include <cstdint>
#include <functional>
#include <string>

namespace mixwalk {

// The functions of the system that copy a process (Microsoft Learn, "Process Snapshotting"). Windows has them since
// 8.1; Wine 8 does not have them. Tests use functions of their own.
struct SnapshotFunctions {
  // PssCaptureSnapshot, PssQuerySnapshot and PssFreeSnapshot.
  std::function<DWORD(HANDLE process, DWORD what, DWORD registers, HANDLE* snapshot)> capture = {};
  std::function<DWORD(HANDLE snapshot, int what, void* buffer, DWORD bytes)> query = {};
  std::function<DWORD(HANDLE process, HANDLE snapshot)> free = {};
  // How many bytes of memory the system can still promise (commit), and how many it has promised to a process alone.
  std::function<std::uint64_t()> memory_left = {};
  std::function<std::uint64_t(HANDLE process)> memory_of = {};

  explicit operator bool() const noexcept { return capture && query && free && memory_left && memory_of; }
};
// Those of this system; all are empty if it lacks one of the three.
SnapshotFunctions system_snapshot_functions();

// Why `process` should not be cloned: the clone would take more than half of the memory that the system can still
// promise. Returns an empty text if there is room enough. `process`: PROCESS_QUERY_INFORMATION | PROCESS_VM_READ.
std::string no_room_for_clone(HANDLE process, const SnapshotFunctions& functions);

// A copy of a process from one moment: a clone with its memory (copy on write), its threads with their registers, and
// its handles. The clone is a process of its own, without threads. The destructor ends the clone and frees everything.
// Not frozen-safe.
class ProcessSnapshot {
 public:
  // The rights that capture() needs.
  static constexpr DWORD kRights =
      PROCESS_CREATE_PROCESS | PROCESS_QUERY_INFORMATION | PROCESS_VM_READ | PROCESS_DUP_HANDLE;

  // `functions` must outlive this object.
  explicit ProcessSnapshot(const SnapshotFunctions& functions) : functions_(functions) {}
  ~ProcessSnapshot();
  ProcessSnapshot(const ProcessSnapshot&) = delete;
  ProcessSnapshot& operator=(const ProcessSnapshot&) = delete;

  // Copies the process; to be called once. The caller must have suspended the process's threads: no document says that
  // the system does so, and the system notes a time of its own for each thread (PSS_THREAD_ENTRY::CaptureTime). Returns
  // ERROR_SUCCESS or a system error.
  DWORD capture(HANDLE process);
  // For MiniDumpWriteDump, in place of the process. Null before capture().
  HANDLE handle() const noexcept { return snapshot_; }

 private:
  const SnapshotFunctions& functions_;
  HANDLE snapshot_ = nullptr;
  HANDLE clone_ = nullptr;  // belongs to the snapshot
};

}  // namespace mixwalk
