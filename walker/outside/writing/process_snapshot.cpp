#include "walker/outside/writing/process_snapshot.h"

#include <psapi.h>

namespace mixwalk {
namespace {

// PSS_CAPTURE_FLAGS and PSS_QUERY_INFORMATION_CLASS of processsnapshot.h, which mingw-w64 does not have. The flags are
// those of Microsoft Learn, "Generate Dump File from a Process Snapshot", and the list of memory regions. The flag that
// avoids the heap is left out.
constexpr DWORD kVaClone = 0x0000'0001;
constexpr DWORD kHandles = 0x0000'0004, kHandleNames = 0x0000'0008, kHandleBasics = 0x0000'0010,
                kHandleTypes = 0x0000'0020, kHandleTrace = 0x0000'0040;
constexpr DWORD kThreads = 0x0000'0080, kThreadContext = 0x0000'0100, kThreadContextExtended = 0x0000'0200;
constexpr DWORD kVaSpace = 0x0000'0800, kVaSpaceSections = 0x0000'1000;
// The clone should not count in the process's job: neither against the job's limits, nor for its end.
constexpr DWORD kBreakawayOptional = 0x0400'0000, kBreakaway = 0x0800'0000;
// The clone does not keep the program's file open.
constexpr DWORD kReleaseSection = 0x8000'0000;
constexpr DWORD kEverything = kVaClone | kHandles | kHandleNames | kHandleBasics | kHandleTypes | kHandleTrace |
                              kThreads | kThreadContext | kThreadContextExtended | kVaSpace | kVaSpaceSections |
                              kBreakawayOptional | kBreakaway | kReleaseSection;
constexpr int kQueryVaClone = 1;  // PSS_VA_CLONE_INFORMATION, which is one handle

std::uint64_t commit_left() {
  MEMORYSTATUSEX memory{};
  memory.dwLength = sizeof memory;
  return GlobalMemoryStatusEx(&memory) ? memory.ullAvailPageFile : 0;
}

// 0 if the system does not say it.
std::uint64_t private_bytes(HANDLE process) {
  PROCESS_MEMORY_COUNTERS_EX memory{};
  auto* const counters = reinterpret_cast<PROCESS_MEMORY_COUNTERS*>(&memory);
  return GetProcessMemoryInfo(process, counters, sizeof memory) ? memory.PrivateUsage : 0;
}

std::string mib(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

}  // namespace

SnapshotFunctions system_snapshot_functions() {
  const HMODULE library = GetModuleHandleW(L"kernel32.dll");
  const auto find = [&](const char* name) { return reinterpret_cast<void*>(GetProcAddress(library, name)); };
  const auto capture = reinterpret_cast<DWORD(WINAPI*)(HANDLE, DWORD, DWORD, HANDLE*)>(find("PssCaptureSnapshot"));
  const auto query = reinterpret_cast<DWORD(WINAPI*)(HANDLE, int, void*, DWORD)>(find("PssQuerySnapshot"));
  const auto free = reinterpret_cast<DWORD(WINAPI*)(HANDLE, HANDLE)>(find("PssFreeSnapshot"));
  if (capture == nullptr || query == nullptr || free == nullptr) return {};
  return {capture, query, free, commit_left, private_bytes};
}

std::string no_room_for_clone(HANDLE process, const SnapshotFunctions& functions) {
  const std::uint64_t its = functions.memory_of(process), left = functions.memory_left();
  if (its <= left / 2) return {};
  return "it has " + mib(its) + " of private memory, and the system has " + mib(left) + " left";
}

DWORD ProcessSnapshot::capture(HANDLE process) {
  if (const DWORD error = functions_.capture(process, kEverything, CONTEXT_ALL, &snapshot_); error != ERROR_SUCCESS) {
    snapshot_ = nullptr;
    return error;
  }
  HANDLE clone = nullptr;
  if (const DWORD error = functions_.query(snapshot_, kQueryVaClone, &clone, sizeof clone); error != ERROR_SUCCESS) {
    return error;
  }
  // The destructor ends this process, which must be neither the original nor mixwalk.exe.
  const DWORD id = GetProcessId(clone);
  if (id == 0 || id == GetProcessId(process) || id == GetCurrentProcessId()) return ERROR_NOT_FOUND;
  clone_ = clone;
  return ERROR_SUCCESS;
}

ProcessSnapshot::~ProcessSnapshot() {
  if (snapshot_ == nullptr) return;
  // No document says that PssFreeSnapshot ends the clone, and a clone was seen to remain (the issue "Cloned process is
  // not killed after dump completes" of CopyOnWriteDump on GitHub).
  if (clone_ != nullptr) TerminateProcess(clone_, 0);
  functions_.free(GetCurrentProcess(), snapshot_);
}

}  // namespace mixwalk
