#include "tests/tools/bundle/windows_answers.h"

#include <windows.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>

#include "unmanaged/image/image_headers.h"
#include "unmanaged/step/unwind_info.h"
#include "unmanaged/win/guarded.h"
#include "unmanaged/win/own_thread.h"
#include "unmanaged/win/plain_memory.h"
#include "unmanaged/win/thread_information.h"
#include "unmanaged/win/unique_handle.h"
#include "walker/session/win/patched_calls_of.h"

namespace mixwalk {
namespace {

const char* yes_or_no(bool answer) { return answer ? "yes" : "no"; }

void* function(const wchar_t* dll, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(dll), name));
}

double milliseconds_of(void (*wait)()) {
  LARGE_INTEGER begin, end, frequency;
  QueryPerformanceFrequency(&frequency);
  QueryPerformanceCounter(&begin);
  wait();
  QueryPerformanceCounter(&end);
  return static_cast<double>(end.QuadPart - begin.QuadPart) * 1000 / static_cast<double>(frequency.QuadPart);
}

// The median of 21 waits.
std::string typical(void (*wait)()) {
  std::array<double, 21> times;
  for (double& time : times) time = milliseconds_of(wait);
  std::ranges::nth_element(times, times.begin() + times.size() / 2);
  char text[32];
  std::snprintf(text, sizeof text, "%.2f ms", times[times.size() / 2]);
  return text;
}

void one_step_of_the_clock() {
  const ULONGLONG begin = GetTickCount64();
  while (GetTickCount64() == begin) {
  }
}

void wait_by_timer() {
  constexpr DWORD kHighResolution = 0x2;  // CREATE_WAITABLE_TIMER_HIGH_RESOLUTION
  const UniqueHandle timer(CreateWaitableTimerExW(nullptr, nullptr, kHighResolution, TIMER_ALL_ACCESS));
  LARGE_INTEGER due{.QuadPart = -10'000};  // 1 ms
  if (timer && SetWaitableTimer(timer.get(), &due, 0, nullptr, nullptr, FALSE)) WaitForSingleObject(timer.get(), 1000);
}

DWORD WINAPI wait_for_event(void* event) { return WaitForSingleObject(event, INFINITE); }

// A thread that waits in a system call.
class WaitingThread {
 public:
  WaitingThread() : event_(CreateEventW(nullptr, TRUE, FALSE, nullptr)) {
    thread_ = start_own_thread(&wait_for_event, event_.get());
    Sleep(50);
  }
  ~WaitingThread() {
    SetEvent(event_.get());
    WaitForSingleObject(thread_.get(), INFINITE);
  }
  HANDLE get() const { return thread_.get(); }

 private:
  UniqueHandle event_, thread_;
};

std::string suspend_counts() {
  const WaitingThread thread;
  SuspendThread(thread.get());
  SuspendThread(thread.get());
  const auto twice = suspend_count(thread.get());
  ResumeThread(thread.get());
  ResumeThread(thread.get());
  return twice ? std::to_string(*twice) : "the system does not say";
}

// The flags of a CONTEXT that the system adds if CONTEXT_EXCEPTION_REQUEST (0x40000000) was asked for: EXCEPTION_ACTIVE
// 0x8000000, SERVICE_ACTIVE 0x10000000, EXCEPTION_REPORTING 0x80000000.
std::string exception_request() {
  const WaitingThread thread;
  SuspendThread(thread.get());
  CONTEXT context{};
  context.ContextFlags = CONTEXT_CONTROL | 0x40000000;
  const bool read = GetThreadContext(thread.get(), &context);
  ResumeThread(thread.get());
  char text[32];
  std::snprintf(text, sizeof text, "0x%lx", context.ContextFlags);
  return read ? text : "refused";
}

std::string first_frame() {
  const auto* const tib = reinterpret_cast<const NT_TIB*>(NtCurrentTeb());
  CONTEXT context;
  RtlCaptureContext(&context);
  std::uint64_t rsp = context.Rsp;
  DWORD64 base = 0;
  while (auto* const entry = RtlLookupFunctionEntry(context.Rip, &base, nullptr)) {
    void* data = nullptr;
    DWORD64 frame = 0;
    rsp = context.Rsp;
    RtlVirtualUnwind(UNW_FLAG_NHANDLER, base, context.Rip, entry, &context, &data, &frame, nullptr);
    if (context.Rip == 0) break;
  }
  return std::to_string(reinterpret_cast<std::uint64_t>(tib->StackBase) - rsp);
}

std::string machine_frame(const char* dispatcher) {
  const auto address = reinterpret_cast<std::uint64_t>(function(L"ntdll.dll", dispatcher));
  DWORD64 base = 0;
  const auto* const entry = address != 0 ? RtlLookupFunctionEntry(address, &base, nullptr) : nullptr;
  if (entry == nullptr) return "no unwind data";
  const PlainMemory memory;
  const UnwindCheck check =
      check_unwind({memory, memory, base}, {entry->BeginAddress, entry->EndAddress, entry->UnwindData},
                   static_cast<std::uint32_t>(address - base - entry->BeginAddress));
  return yes_or_no(check.fault == StepFault::none && check.machine_frame);
}

// How many entries of ntdll.dll's exception directory have each version of UNWIND_INFO.
std::string unwind_versions() {
  const auto base = reinterpret_cast<std::uint64_t>(GetModuleHandleW(L"ntdll.dll"));
  const PlainMemory memory;
  const auto headers = ImageHeaders::read(memory, base);
  if (!headers) return "the image cannot be read";
  const auto table = headers->directory(ImageHeaders::kExceptionTable);
  std::map<int, int> versions;
  for (std::uint32_t at = 0; at + 12 <= table.bytes; at += 12) {
    const auto unwind = memory.read_value<std::uint32_t>(base + table.rva + at + 8);
    const auto first = unwind ? memory.read_value<std::uint8_t>(base + *unwind) : std::nullopt;
    if (first) ++versions[*first & 7];
  }
  std::string text;
  for (const auto& [version, count] : versions) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " of version " + std::to_string(version);
  }
  return text;
}

std::string cycle_time() {
  ULONG64 cycles = 0;
  return QueryThreadCycleTime(GetCurrentThread(), &cycles) && cycles != 0 ? "yes" : "no";
}

std::string patched_calls() {
  const auto patched = patched_calls_of(GetCurrentProcessId());
  if (!patched) return patched.failure().message;
  return patched->empty() ? "none" : patched_calls_text(*patched);
}

// The begin of one system call, so that a new shape can be seen.
std::string stub_bytes() {
  std::array<std::uint8_t, 24> bytes{};
  const auto* const stub = function(L"ntdll.dll", "NtResumeThread");
  if (stub != nullptr) std::memcpy(bytes.data(), stub, bytes.size());
  std::string text;
  for (const std::uint8_t byte : bytes) {
    char hex[4];
    std::snprintf(hex, sizeof hex, "%02x ", byte);
    text += hex;
  }
  return text.substr(0, text.size() - 1);
}

}  // namespace

std::string windows_answers() {
  const auto there = [](const wchar_t* dll, const char* name) { return yes_or_no(function(dll, name) != nullptr); };
  const std::pair<const char*, std::string> answers[] = {
      {"a step of GetTickCount64", typical(&one_step_of_the_clock)},
      {"Sleep(1) takes", typical([] { Sleep(1); })},
      {"a wait of 1 ms by a high-resolution timer takes", typical(&wait_by_timer)},
      {"the suspend count of a thread that was suspended twice", suspend_counts()},
      {"ContextFlags of a thread in a system call, with CONTEXT_EXCEPTION_REQUEST", exception_request()},
      {"patched system calls", patched_calls()},
      {"the begin of NtResumeThread", stub_bytes()},
      {"KiUserExceptionDispatcher has a machine frame", machine_frame("KiUserExceptionDispatcher")},
      {"KiUserApcDispatcher has a machine frame", machine_frame("KiUserApcDispatcher")},
      {"KiUserCallbackDispatcher has a machine frame", machine_frame("KiUserCallbackDispatcher")},
      {"UNWIND_INFO in ntdll.dll", unwind_versions()},
      {"bytes from a thread's first frame to the base of its stack", first_frame()},
      {"this thread has a shadow stack", yes_or_no(has_shadow_stack())},
      {"QueryThreadCycleTime counts", cycle_time()},
      {"QueueUserAPC2 exists", there(L"kernelbase.dll", "QueueUserAPC2")},
      {"PssCaptureSnapshot exists", there(L"kernel32.dll", "PssCaptureSnapshot")},
      {"RtlGetReturnAddressHijackTarget exists", there(L"ntdll.dll", "RtlGetReturnAddressHijackTarget")},
      {"RtlRaiseExceptionForReturnAddressHijack exists",
       there(L"ntdll.dll", "RtlRaiseExceptionForReturnAddressHijack")},
  };
  std::string text = "Answers to questions of docs/windows.md:\n";
  for (const auto& [question, answer] : answers) text += "  " + std::string(question) + ": " + answer + "\n";
  return text;
}

}  // namespace mixwalk
