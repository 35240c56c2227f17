#include "walker/target/suspension/suspension_gate.h"

#include <windows.h>

#include <atomic>

namespace mixwalk {
namespace {

// How long the program may take to end after the console's event.
constexpr ULONGLONG kProgramEndMs = 1000;

SRWLOCK gate = SRWLOCK_INIT;
std::atomic<ULONGLONG> closed_until{0};  // GetTickCount64
std::atomic<bool> registered{false};

BOOL WINAPI on_event(DWORD) {
  closed_until = GetTickCount64() + kProgramEndMs;
  // Waits until the thread that is suspended at the moment runs again.
  AcquireSRWLockExclusive(&gate);
  ReleaseSRWLockExclusive(&gate);
  return FALSE;
}

}  // namespace

SuspensionGate::SuspensionGate() noexcept {
  if (!registered.exchange(true)) SetConsoleCtrlHandler(on_event, TRUE);
  while (true) {
    AcquireSRWLockExclusive(&gate);
    const ULONGLONG until = closed_until, now = GetTickCount64();
    if (now >= until) return;
    ReleaseSRWLockExclusive(&gate);
    Sleep(static_cast<DWORD>(until - now));
  }
}

SuspensionGate::~SuspensionGate() { ReleaseSRWLockExclusive(&gate); }

}  // namespace mixwalk
