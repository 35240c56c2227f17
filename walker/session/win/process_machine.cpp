#include "walker/session/win/process_machine.h"

#include <type_traits>

namespace mixwalk {
namespace {

constexpr USHORT kArm64 = 0xAA64, kAmd64 = 0x8664, kNotWow64 = 0;  // IMAGE_FILE_MACHINE_*

// PROCESS_INFORMATION_CLASS and PROCESS_MACHINE_INFORMATION (Microsoft Learn, "GetProcessInformation"; Windows 11).
constexpr int kProcessMachineTypeInfo = 9;
struct ProcessMachine {
  USHORT machine;
  USHORT reserved;
  DWORD attributes;
};

}  // namespace

MachineFunctions system_machine_functions() noexcept {
  const HMODULE kernel32 = GetModuleHandleW(L"kernel32.dll");
  const auto look_up = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        reinterpret_cast<void*>(GetProcAddress(kernel32, name)));
  };
  MachineFunctions functions;
  look_up(functions.is_wow64_process2, "IsWow64Process2");
  look_up(functions.get_process_information, "GetProcessInformation");
  return functions;
}

std::string unfit_machine(HANDLE process, const MachineFunctions& functions) {
  constexpr const char* k32Bit = " is a 32-bit process; mixwalk walks x64 only";
  BOOL wow64 = FALSE;
  if (functions.is_wow64_process(process, &wow64) && wow64) return k32Bit;
  USHORT of_process = 0, native = 0;
  if (functions.is_wow64_process2 == nullptr || !functions.is_wow64_process2(process, &of_process, &native)) return {};
  if (of_process != kNotWow64) return k32Bit;
  if (native != kArm64) return {};
  ProcessMachine machine{};
  const bool known = functions.get_process_information != nullptr &&
                     functions.get_process_information(process, kProcessMachineTypeInfo, &machine, sizeof machine);
  if (known && machine.machine == kAmd64) {
    return " is an x64 process that runs emulated on an ARM64 processor; mixwalk cannot walk the system's images there";
  }
  return " is an ARM64 process; mixwalk walks x64 only";
}

}  // namespace mixwalk
