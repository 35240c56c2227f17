#include "walker/target/suspension/suspension_watcher.h"

#include <windows.h>

#include <atomic>
#include <new>

#include "unmanaged/win/unique_handle.h"
#include "walker/session/win/start_process.h"
#include "walker/session/win/win_error.h"
#include "walker/target/suspension/suspension_ledger.h"

namespace mixwalk {
namespace {

constexpr int kDone = 0, kBadCommand = 2;

// The memory that mixwalk.exe shares with its watcher.
struct WatcherPage {
  SuspensionLedger suspensions;
  std::atomic<bool> has_watch{false};
  HandedWatch watch;  // to be continued, with handles of the watcher
};

// The watcher, once it runs.
WatcherPage* page_of_watcher = nullptr;
UniqueHandle watcher;

}  // namespace

std::optional<Failure> watch_suspensions(const std::wstring& program, std::uint32_t process_id) {
  const auto failed = [](const char* what) {
    return Failure{ExitCode::internal, std::string("cannot start the watcher: ") + what + ": " + last_error()};
  };
  static std::atomic<bool> begun{false};
  if (begun.exchange(true)) return std::nullopt;
  SECURITY_ATTRIBUTES inheritable{
      .nLength = sizeof inheritable, .lpSecurityDescriptor = nullptr, .bInheritHandle = TRUE};
  UniqueHandle section(CreateFileMappingW(INVALID_HANDLE_VALUE, &inheritable, PAGE_READWRITE, 0,
                                          sizeof(WatcherPage), nullptr));
  void* const view = section ? MapViewOfFile(section.get(), FILE_MAP_WRITE, 0, 0, sizeof(WatcherPage)) : nullptr;
  if (view == nullptr) return failed("memory");
  HANDLE copy = nullptr;
  if (!DuplicateHandle(GetCurrentProcess(), GetCurrentProcess(), GetCurrentProcess(), &copy, SYNCHRONIZE, TRUE, 0)) {
    return failed("handle");
  }
  const UniqueHandle self(copy);
  auto* const page = new (view) WatcherPage;
  page->suspensions.process_id = process_id;
  Outcome<StartedHelper> started = start_helper(program, {.name = "watcher",
                                                          .command = kSuspensionWatcherCommand,
                                                          .arguments = {self.get(), section.get()},
                                                          .outlives_us = true});
  if (!started) return started.failure();
  // The watcher runs and has its handles. From now on the system notifies it when this process ends.
  watcher = std::move(started->process);
  page_of_watcher = page;
  record_suspensions_in(&page->suspensions);
  return std::nullopt;
}

std::optional<Failure> watch_freezes(TargetWatch& watch) {
  if (page_of_watcher == nullptr) return Failure{ExitCode::internal, "no watcher runs for freezes from inside"};
  const auto handed = watch.hand_to(watcher.get());
  if (!handed) return Failure{ExitCode::internal, "the watcher cannot watch freezes from inside: " + last_error()};
  page_of_watcher->has_watch = false;
  page_of_watcher->watch = *handed;
  page_of_watcher->has_watch = true;
  return std::nullopt;
}

std::optional<int> run_suspension_watcher(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != kSuspensionWatcherCommand) return std::nullopt;
  if (arguments.size() != 3) return kBadCommand;
  const UniqueHandle process = inherited_handle(arguments[1]), section = inherited_handle(arguments[2]);
  if (!process || !section) return kBadCommand;
  const void* const view = MapViewOfFile(section.get(), FILE_MAP_READ, 0, 0, sizeof(WatcherPage));
  if (view == nullptr || WaitForSingleObject(process.get(), INFINITE) != WAIT_OBJECT_0) return kBadCommand;
  const auto& page = *static_cast<const WatcherPage*>(view);
  resume_all(page.suspensions);
  if (page.has_watch) TargetWatch::take_over(page.watch);
  return kDone;
}

}  // namespace mixwalk
