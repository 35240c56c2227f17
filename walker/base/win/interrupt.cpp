#include "walker/base/interrupt.h"

#include <windows.h>

#include <atomic>

namespace mixwalk {
namespace {

std::atomic<bool> g_pressed = false;

// Handlers are called in the opposite order of their registration, so this one comes first.
BOOL WINAPI on_interrupt(DWORD event) {
  if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) return FALSE;
  return g_pressed.exchange(true) ? FALSE : TRUE;
}

}  // namespace

InterruptCatcher::InterruptCatcher() noexcept {
  g_pressed = false;
  exists_ = SetConsoleCtrlHandler(&on_interrupt, TRUE) != 0;
}

InterruptCatcher::~InterruptCatcher() {
  SetConsoleCtrlHandler(&on_interrupt, FALSE);
  exists_ = false;
}

bool InterruptCatcher::pressed() const noexcept { return g_pressed; }

}  // namespace mixwalk
