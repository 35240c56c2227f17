#include "walker/session/win/process_machine.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

// The answers of a system.
struct System {
  BOOL wow64 = FALSE;
  USHORT of_process = 0, native = 0x8664;
  USHORT machine = 0;  // 0: GetProcessInformation fails
};
System g_system;

BOOL WINAPI is_wow64(HANDLE, BOOL* wow64) {
  *wow64 = g_system.wow64;
  return TRUE;
}
BOOL WINAPI is_wow64_2(HANDLE, USHORT* process, USHORT* native) {
  *process = g_system.of_process;
  *native = g_system.native;
  return TRUE;
}
BOOL WINAPI information(HANDLE, int kind, void* into, DWORD bytes) {
  if (g_system.machine == 0 || kind != 9 || bytes != 8) return FALSE;
  *static_cast<USHORT*>(into) = g_system.machine;
  return TRUE;
}

std::string unfit(const System& system) {
  g_system = system;
  return unfit_machine(nullptr, {&is_wow64, &is_wow64_2, &information});
}

constexpr char k32Bit[] = " is a 32-bit process; mixwalk walks x64 only";

TEST(ProcessMachine, AnX64ProcessOnAnX64Machine) { EXPECT_EQ(unfit({}), ""); }

TEST(ProcessMachine, ProcessesOf32Bits) {
  EXPECT_EQ(unfit({.wow64 = TRUE, .of_process = 0x14C}), k32Bit);
  EXPECT_EQ(unfit({.of_process = 0x1C4, .native = 0xAA64}), k32Bit);
}

TEST(ProcessMachine, AnEmulatedProcess) {
  EXPECT_EQ(unfit({.native = 0xAA64, .machine = 0x8664}),
            " is an x64 process that runs emulated on an ARM64 processor; mixwalk cannot walk the system's images"
            " there");
}

TEST(ProcessMachine, AnArm64Process) {
  EXPECT_EQ(unfit({.native = 0xAA64, .machine = 0xAA64}), " is an ARM64 process; mixwalk walks x64 only");
  // Windows 10 on ARM64 emulates no x64, and does not answer.
  EXPECT_EQ(unfit({.native = 0xAA64}), " is an ARM64 process; mixwalk walks x64 only");
}

TEST(ProcessMachine, AnOldSystemTellsOnlyWow64) {
  g_system = {.native = 0xAA64};
  EXPECT_EQ(unfit_machine(nullptr, {&is_wow64}), "");
  g_system = {.wow64 = TRUE};
  EXPECT_EQ(unfit_machine(nullptr, {&is_wow64}), k32Bit);
}

TEST(ProcessMachine, ThisProcess) { EXPECT_EQ(unfit_machine(GetCurrentProcess()), ""); }

}  // namespace
}  // namespace mixwalk
