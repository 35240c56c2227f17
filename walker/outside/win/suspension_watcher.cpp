#include "walker/outside/win/suspension_watcher.h"

#include <windows.h>

#include <atomic>
#include <charconv>
#include <new>

#include "unmanaged/win/unique_handle.h"
#include "unmanaged/win/utf8.h"
#include "walker/outside/win/handle_list.h"
#include "walker/outside/win/suspension_ledger.h"
#include "walker/session/win/win_error.h"

namespace mixwalk {
namespace {

constexpr int kDone = 0, kBadCommand = 2;

UniqueHandle handle_of(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return UniqueHandle(reinterpret_cast<HANDLE>(value));
}

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
                                          sizeof(SuspensionLedger), nullptr));
  void* const view = section ? MapViewOfFile(section.get(), FILE_MAP_WRITE, 0, 0, sizeof(SuspensionLedger)) : nullptr;
  if (view == nullptr) return failed("memory");
  HANDLE copy = nullptr;
  if (!DuplicateHandle(GetCurrentProcess(), GetCurrentProcess(), GetCurrentProcess(), &copy, SYNCHRONIZE, TRUE, 0)) {
    return failed("handle");
  }
  const UniqueHandle self(copy);
  auto* const ledger = new (view) SuspensionLedger;
  ledger->process_id = process_id;
  HandleList list({self.get(), section.get()});
  if (!list.ready()) return failed("handles");
  std::wstring command = L'"' + program + L"\" " + to_utf16(kSuspensionWatcherCommand) + L' ' +
                         to_utf16(handle_text(self.get())) + L' ' + to_utf16(handle_text(section.get()));
  STARTUPINFOEXW startup{};
  startup.StartupInfo.cb = sizeof startup;
  startup.lpAttributeList = list.get();
  PROCESS_INFORMATION created{};
  // The watcher has its own process group and no console, because Ctrl-C and the end of the console are for
  // mixwalk.exe.
  if (!CreateProcessW(program.c_str(), command.data(), nullptr, nullptr, TRUE,
                      CREATE_NEW_PROCESS_GROUP | DETACHED_PROCESS | EXTENDED_STARTUPINFO_PRESENT, nullptr, nullptr,
                      &startup.StartupInfo, &created)) {
    const DWORD error = GetLastError();
    return Failure{ExitCode::internal, "cannot start the watcher: process: " + image_error_text(error, "mixwalk.exe")};
  }
  CloseHandle(created.hThread);
  CloseHandle(created.hProcess);
  // The watcher exists and has its handles. From now on the system notifies it when this process ends.
  record_suspensions_in(ledger);
  return std::nullopt;
}

std::optional<int> run_suspension_watcher(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != kSuspensionWatcherCommand) return std::nullopt;
  if (arguments.size() != 3) return kBadCommand;
  const UniqueHandle process = handle_of(arguments[1]), section = handle_of(arguments[2]);
  if (!process || !section) return kBadCommand;
  const void* const view = MapViewOfFile(section.get(), FILE_MAP_READ, 0, 0, sizeof(SuspensionLedger));
  if (view == nullptr || WaitForSingleObject(process.get(), INFINITE) != WAIT_OBJECT_0) return kBadCommand;
  resume_all(*static_cast<const SuspensionLedger*>(view));
  return kDone;
}

}  // namespace mixwalk
