#pragma once

namespace mixwalk {

// Whether this program runs under Wine.
bool under_wine();

// Whether this machine runs 32-bit code. On Windows this is true. Wine 8 needs the machine's kernel for such a process:
// the interrupt 0x80 must be a system call of 32-bit Linux. The kernel of some virtual machines refuses it (pvm guests:
// "IA-32 emulation off"), and then CreateProcess gives ERROR_INTERNAL_ERROR (1359) for every 32-bit program.
bool runs_32_bit_code();

}  // namespace mixwalk

// The first line of a test case that needs something that only Wine has. On Windows the case is skipped, and
// run_tests.exe, which recognises it by these words, counts it as "not for Windows".
#define MIXWALK_ONLY_UNDER_WINE(why) \
  if (!mixwalk::under_wine()) GTEST_SKIP() << "not for Windows: " << (why)

// The first line of a test case that needs a 32-bit process.
#define MIXWALK_NEEDS_32_BIT_CODE() \
  if (!mixwalk::runs_32_bit_code()) GTEST_SKIP() << "not run: this machine runs no 32-bit code"
