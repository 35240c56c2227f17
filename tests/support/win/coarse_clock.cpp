#include "tests/support/win/coarse_clock.h"

#include <windows.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "walker/base/win/tick_clock.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kTickNs = 15'625'000;

std::atomic<bool> g_coarse{false};
decltype(&GetTickCount64) g_tick_count;
decltype(&Sleep) g_sleep;
decltype(&WaitForSingleObject) g_wait_one;
decltype(&WaitForMultipleObjects) g_wait_any;
decltype(&SleepConditionVariableSRW) g_wait_condition;
decltype(&SetWaitableTimer) g_set_timer;

std::atomic<DWORD> g_recorded{0};  // the thread whose waits are recorded
std::atomic<std::uint64_t> g_longest_ns{0}, g_last_ends_ns{0};

std::uint64_t now_ns() { return TickClock().now_ns(); }

void record(std::uint64_t limit_ns) {
  if (GetCurrentThreadId() != g_recorded) return;
  g_last_ends_ns = now_ns() + limit_ns;
  if (limit_ns > g_longest_ns) g_longest_ns = limit_ns;
}

// The time until the first tick at which this time has passed, in milliseconds.
DWORD until_tick(DWORD milliseconds) {
  if (!g_coarse || milliseconds == 0 || milliseconds == INFINITE) return milliseconds;
  const std::uint64_t now = now_ns(), end = now + std::uint64_t{milliseconds} * 1'000'000;
  const std::uint64_t tick = (end + kTickNs - 1) / kTickNs * kTickNs;
  record(tick - now);
  return static_cast<DWORD>((tick - now + 999'999) / 1'000'000);
}

ULONGLONG WINAPI coarse_tick_count() {
  return g_coarse ? now_ns() / kTickNs * kTickNs / 1'000'000 : g_tick_count();
}
void WINAPI coarse_sleep(DWORD milliseconds) { g_sleep(until_tick(milliseconds)); }
DWORD WINAPI coarse_wait_one(HANDLE handle, DWORD milliseconds) { return g_wait_one(handle, until_tick(milliseconds)); }
DWORD WINAPI coarse_wait_any(DWORD count, const HANDLE* handles, BOOL all, DWORD milliseconds) {
  return g_wait_any(count, handles, all, until_tick(milliseconds));
}
BOOL WINAPI coarse_wait_condition(PCONDITION_VARIABLE condition, PSRWLOCK lock, DWORD milliseconds, ULONG flags) {
  return g_wait_condition(condition, lock, until_tick(milliseconds), flags);
}

BOOL WINAPI recorded_set_timer(HANDLE timer, const LARGE_INTEGER* due, LONG period, PTIMERAPCROUTINE routine,
                               void* data, BOOL resume) {
  if (due->QuadPart < 0) record(static_cast<std::uint64_t>(-due->QuadPart) * 100);
  return g_set_timer(timer, due, period, routine, data, resume);
}

template <class Function>
void replace(ULONGLONG& slot, Function*& original, Function* replacement) {
  DWORD protection = 0;
  VirtualProtect(&slot, sizeof slot, PAGE_READWRITE, &protection);
  original = reinterpret_cast<Function*>(slot);
  slot = reinterpret_cast<ULONGLONG>(replacement);
  VirtualProtect(&slot, sizeof slot, protection, &protection);
}

bool replace_import(ULONGLONG& slot, const char* name) {
  const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
  if (is("GetTickCount64")) replace(slot, g_tick_count, &coarse_tick_count);
  else if (is("Sleep")) replace(slot, g_sleep, &coarse_sleep);
  else if (is("WaitForSingleObject")) replace(slot, g_wait_one, &coarse_wait_one);
  else if (is("WaitForMultipleObjects")) replace(slot, g_wait_any, &coarse_wait_any);
  else if (is("SleepConditionVariableSRW")) replace(slot, g_wait_condition, &coarse_wait_condition);
  else if (is("SetWaitableTimer")) replace(slot, g_set_timer, &recorded_set_timer);
  else return false;
  return true;
}

// The calls stay replaced for good, because other threads may be in them.
int replace_imports() {
  auto* const base = reinterpret_cast<char*>(GetModuleHandleW(nullptr));
  const auto* dos = reinterpret_cast<IMAGE_DOS_HEADER*>(base);
  const auto* headers = reinterpret_cast<IMAGE_NT_HEADERS*>(base + dos->e_lfanew);
  const auto& directory = headers->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_IMPORT];
  int replaced = 0;
  for (auto* dll = reinterpret_cast<IMAGE_IMPORT_DESCRIPTOR*>(base + directory.VirtualAddress); dll->Name != 0; ++dll) {
    auto* names = reinterpret_cast<IMAGE_THUNK_DATA*>(base + dll->OriginalFirstThunk);
    auto* slots = reinterpret_cast<IMAGE_THUNK_DATA*>(base + dll->FirstThunk);
    for (; names->u1.AddressOfData != 0; ++names, ++slots) {
      if (IMAGE_SNAP_BY_ORDINAL(names->u1.Ordinal)) continue;
      const char* name = reinterpret_cast<IMAGE_IMPORT_BY_NAME*>(base + names->u1.AddressOfData)->Name;
      replaced += replace_import(slots->u1.Function, name);
    }
  }
  return replaced;
}

}  // namespace

CoarseClock::CoarseClock() {
  static const int replaced = replace_imports();
  // Without Sleep and WaitForSingleObject nothing would be coarse, and a test could not fail.
  if (g_sleep == nullptr || g_wait_one == nullptr || replaced < 3) throw std::logic_error("no coarse clock");
  g_coarse = true;
}

CoarseClock::~CoarseClock() { g_coarse = false; }

void CoarseClock::record_waits(std::uint32_t thread_id) {
  g_longest_ns = g_last_ends_ns = 0;
  g_recorded = thread_id;
}

std::uint64_t CoarseClock::longest_wait_ns() { return g_longest_ns; }
std::uint64_t CoarseClock::last_wait_ends_ns() { return g_last_ends_ns; }

void CoarseClock::wait_for_tick() {
  for (const std::uint64_t tick = now_ns() / kTickNs; now_ns() / kTickNs == tick;) SwitchToThread();
}

}  // namespace mixwalk
