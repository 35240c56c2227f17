#pragma once

#include <windows.h>

#include <string>

namespace mixwalk {

// The functions of kernel32.dll that tell for which processor a process runs. They are looked up at run time, since
// older systems lack the last two; those are null there.
struct MachineFunctions {
  decltype(&IsWow64Process) is_wow64_process = &IsWow64Process;
  BOOL(WINAPI* is_wow64_process2)(HANDLE, USHORT* process, USHORT* native) = nullptr;  // Windows 10 1511
  BOOL(WINAPI* get_process_information)(HANDLE, int kind, void* into, DWORD bytes) = nullptr;  // Windows 8
};
MachineFunctions system_machine_functions() noexcept;

// Returns why mixwalk cannot walk the process, as the end of a sentence that begins with the process: it has 32 bits,
// or runs on an ARM64 processor. Empty if it can. The handle has PROCESS_QUERY_LIMITED_INFORMATION.
//
// Folklore: an x64 process on an ARM64 machine is no WOW64 process, and its images are x64, but those of the system
// contain ARM64 code besides (ARM64X), whose unwind data is of another kind. (Microsoft Learn, "ARM64EC";
// dotnet/runtime issue 68671.) Only the two newer functions tell. Test: process_machine_test.
std::string unfit_machine(HANDLE process, const MachineFunctions& functions = system_machine_functions());

}  // namespace mixwalk
