// A debugger is attached to the program while mixwalk visits it. The debugger must see no fault of mixwalk's, and the
// program must run on after both have detached.

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <thread>

#include "tests/hunt/hunt.h"

namespace mixwalk {
namespace {

// A minimal debugger: it lets the program continue after every event, and counts the exceptions.
class Debugger {
 public:
  explicit Debugger(DWORD process_id) : thread_([this, process_id] { debug(process_id); }) {
    attached_.get_future().wait();
  }
  // Detaches from the process, and returns the numbers of exceptions by code.
  std::map<DWORD, int> leave() {
    stop_ = true;
    thread_.join();
    return exceptions_;
  }
  bool attached() const { return is_attached_; }

 private:
  // A debugger's calls must all come from the thread that attached.
  void debug(DWORD process_id) {
    is_attached_ = DebugActiveProcess(process_id);
    DebugSetProcessKillOnExit(FALSE);
    attached_.set_value();
    DEBUG_EVENT event{};
    while (!stop_) {
      if (!WaitForDebugEvent(&event, 20)) continue;
      DWORD answer = DBG_CONTINUE;
      if (event.dwDebugEventCode == EXCEPTION_DEBUG_EVENT) {
        const DWORD code = event.u.Exception.ExceptionRecord.ExceptionCode;
        if (code != EXCEPTION_BREAKPOINT) answer = DBG_EXCEPTION_NOT_HANDLED;
        ++exceptions_[code];
      } else if (event.dwDebugEventCode == CREATE_PROCESS_DEBUG_EVENT) {
        if (event.u.CreateProcessInfo.hFile != nullptr) CloseHandle(event.u.CreateProcessInfo.hFile);
      } else if (event.dwDebugEventCode == LOAD_DLL_DEBUG_EVENT) {
        if (event.u.LoadDll.hFile != nullptr) CloseHandle(event.u.LoadDll.hFile);
      }
      ContinueDebugEvent(event.dwProcessId, event.dwThreadId, answer);
    }
    DebugActiveProcessStop(process_id);
  }

  std::atomic<bool> stop_ = false;
  std::atomic<bool> is_attached_ = false;
  std::promise<void> attached_;
  std::map<DWORD, int> exceptions_;
  std::thread thread_;
};

TEST(Debugged, TheDebuggerSeesNoFaultOfOurs) {
  // Folklore: to attach a debugger, Wine starts a thread in the program while all of its threads stand. If one of them
  // stands inside pthread_create, it holds a lock of glibc that the new thread needs, and the program hangs for ever,
  // without mixwalk (gdb: dl_allocate_tls_init waits in NtCreateThreadEx). Real case: once in some five runs with
  // `hunt.exe tasks`, whose pool starts threads. Remedy: a program that starts no threads at that time, so without
  // tiered compilation too.
  const Situation situation{.name = "chains", .environment = {{"DOTNET_TieredCompilation", "0"}}};
  HuntedProgram control(situation), hunted(situation);
  Debugger of_control(control.process().id()), of_hunted(hunted.process().id());
  ASSERT_TRUE(of_control.attached());
  ASSERT_TRUE(of_hunted.attached());
  Seen seen;
  const std::string time = hunt_duration();
  visit(hunted.id(), {"record", "-i", "1ms", "--budget", "0", "-d", time}, situation, seen);
  for (const char* engine : {"snapshot", "copy"}) {
    visit(hunted.id(), {"dump", "--engine", engine}, situation, seen);
  }
  const auto exceptions = of_hunted.leave(), usual = of_control.leave();
  for (const auto& [code, times] : exceptions) std::printf("exception %#lx %d times\n", code, times);
  EXPECT_FALSE(exceptions.contains(EXCEPTION_ACCESS_VIOLATION));
  EXPECT_FALSE(exceptions.contains(EXCEPTION_GUARD_PAGE));
  EXPECT_FALSE(usual.contains(EXCEPTION_ACCESS_VIOLATION));
  judge(situation, seen, hunted.stop(), control.stop());
}

}  // namespace
}  // namespace mixwalk
