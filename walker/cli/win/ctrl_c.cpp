#include "walker/cli/win/ctrl_c.h"

namespace mixwalk {
namespace {

HANDLE g_ctrl_c = nullptr;

BOOL WINAPI on_ctrl_c(DWORD event) {
  if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) return FALSE;
  if (WaitForSingleObject(g_ctrl_c, 0) == WAIT_OBJECT_0) return FALSE;
  SetEvent(g_ctrl_c);
  return TRUE;
}

}  // namespace

HANDLE catch_ctrl_c() noexcept {
  if (g_ctrl_c != nullptr) return g_ctrl_c;
  g_ctrl_c = CreateEventW(nullptr, TRUE, FALSE, nullptr);
  if (g_ctrl_c != nullptr) SetConsoleCtrlHandler(&on_ctrl_c, TRUE);
  return g_ctrl_c;
}

}  // namespace mixwalk
