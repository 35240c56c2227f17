// Suspends threads of another process as mixwalk.exe does from outside, prints STANDS, and waits until it is ended.
// usage: suspender watched|alone PROCESS all|written|cancelled|THREAD
// `written`: MiniDumpWriteDump is at work, and has suspended the last thread as well. `cancelled`: the same, and then
// Ctrl-C was pressed, so only the writer's suspension is left.

#include <windows.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "unmanaged/win/module_path.h"
#include "unmanaged/win/utf8.h"
#include "walker/target/suspension/outside_thread.h"
#include "walker/target/suspension/process_suspension.h"
#include "walker/target/suspension/suspension_watcher.h"

int wmain(int count, wchar_t** values) {
  using namespace mixwalk;
  std::vector<std::string> arguments;
  for (int i = 1; i < count; ++i) arguments.push_back(to_utf8(values[i]));
  if (const auto watcher = run_suspension_watcher(arguments)) return *watcher;
  if (arguments.size() != 3) return 2;
  const auto process = static_cast<std::uint32_t>(std::stoul(arguments[1]));
  if (arguments[0] == "watched" && watch_suspensions(module_path(nullptr), process)) return 3;
  std::unique_ptr<ProcessSuspension> all;
  OutsideThread one;
  const bool cancelled = arguments[2] == "cancelled", written = cancelled || arguments[2] == "written";
  if (written || arguments[2] == "all") {
    all = std::make_unique<ProcessSuspension>(process);
    if (all->threads().empty()) return 4;
    if (written) {
      if (!all->begin_writing()) return 4;
      SuspendThread(all->threads().back().handle.get());
    }
    if (cancelled) all->end();
  } else if (!one.open(static_cast<std::uint32_t>(std::stoul(arguments[2])), process) ||
             one.suspend() != Suspend::done) {
    return 4;
  }
  std::puts("STANDS");
  std::fflush(stdout);
  Sleep(INFINITE);
  return 0;
}
