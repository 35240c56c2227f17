#include "walker/cli/win/visit.h"

#include <spdlog/spdlog.h>
#include <windows.h>

#include <tlhelp32.h>

#include "unmanaged/minidump/mapped_file.h"
#include "unmanaged/win/module_path.h"
#include "unmanaged/win/unique_handle.h"
#include "unmanaged/win/utf8.h"
#include "walker/session/program_file.h"
#include "walker/session/runtime_refusal.h"
#include "walker/session/visit_failure.h"
#include "walker/session/win/loaded_runtime.h"
#include "walker/session/win/mitigation_policies.h"
#include "walker/session/win/processes.h"
#include "walker/session/win/thread_list.h"
#include "walker/session/win/token.h"
#include "walker/target/suspension/suspension_watcher.h"

namespace mixwalk {
namespace {

// The path of mixwalk.dll, which is in the folder of mixwalk.exe.
Outcome<std::wstring> profiler_path() {
  std::wstring path = module_folder(nullptr) + L"mixwalk.dll";
  if (GetFileAttributesW(path.c_str()) == INVALID_FILE_ATTRIBUTES) {
    return Failure{ExitCode::refused, "mixwalk.dll is not beside mixwalk.exe"};
  }
  return path;
}

// The time between two attempts to attach while another profiler is still in the process.
constexpr DWORD kTryAgainMs = 100;

// Returns a failure if the process does not have one of the threads that were given by id.
std::optional<Failure> missing_thread(const ThreadSelection& threads, std::uint32_t process_id,
                                      const std::string& process_name) {
  if (threads.ids.empty()) return std::nullopt;
  UnmatchedThreads unmatched({.ids = threads.ids});
  meet_threads_of(process_id, unmatched);
  if (unmatched.empty()) return std::nullopt;
  return Failure{ExitCode::no_thread,
                 describe_process(process_id, process_name) + " has no " + unmatched.text() + unmatched.advice()};
}

// The file that the system would start, or an empty path.
std::string program_path(const std::string& program) {
  std::wstring path(SearchPathW(nullptr, to_utf16(program).c_str(), L".exe", 0, nullptr, nullptr), L'\0');
  path.resize(SearchPathW(nullptr, to_utf16(program).c_str(), L".exe", static_cast<DWORD>(path.size()), path.data(),
                          nullptr));
  return to_utf8(path);
}

Outcome<TargetSession> start(const ByStart& start, const Visit& visit, const std::wstring& dll) {
  if (const std::string program = program_path(start.arguments.front()); !program.empty()) {
    const MappedFile file(program);
    if (auto refusal = program_refusal(program, file.bytes())) return std::move(*refusal);
  }
  spdlog::info("starting {}", start.arguments.front());
  auto session = TargetSession::start(start.arguments, dll, visit.timeout_ms, start.allocations);
  if (!session || start.after_ms == 0) return session;
  if (!session->sleep(start.after_ms)) {
    const auto code = session->exit_code(0);
    return Failure{ExitCode::target_exited, describe_process(session->target_id(), session->target_name()) + " ended" +
                                                with_exit_code(code) + " before the time of --after" +
                                                refusal_at_start(code) + session->children_text()};
  }
  if (auto missing = missing_thread(visit.sampling.threads, session->target_id(),
                                    session->target_name())) {
    return std::move(*missing);
  }
  return session;
}

Outcome<TargetSession> attach(const Visit& visit, const std::wstring& dll) {
  const auto id = process_of(visit.target);
  if (!id) return id.failure();
  Outcome<AttachTarget> target = find_target(*id);
  if (!target) return target.failure();
  if (auto missing = missing_thread(visit.sampling.threads, target->id, target->name)) {
    return std::move(*missing);
  }
  const std::string process = describe_process(target->id, target->name);
  if (auto refusal = mitigation_refusal(read_mitigation_policies(target->id), process)) return std::move(*refusal);
  spdlog::info("attaching to process {} ({})", target->id, target->name);
  auto session = TargetSession::attach(std::move(*target), dll, visit.timeout_ms);
  if (session || session.failure().code != ExitCode::already_profiled) return session;
  return occupied(session.failure(), process, has_loaded(*id, "mixwalk.dll"), visit.wait_ms != 0);
}

}  // namespace

Outcome<std::uint32_t> process_of(const TargetChoice& choice) {
  if (const auto* id = std::get_if<ById>(&choice)) {
    if (id->id == GetCurrentProcessId()) return Failure{ExitCode::usage, "mixwalk cannot look at itself"};
    return id->id;
  }
  if (const auto* name = std::get_if<ByName>(&choice)) return find_process(name->name);
  return Failure{ExitCode::no_process, "the program is not started yet"};
}

Outcome<TargetSession> visit(const Visit& visit) {
  const auto dll = profiler_path();
  if (!dll) return dll.failure();
  if (const auto* by_start = std::get_if<ByStart>(&visit.target)) {
    return start(*by_start, visit, *dll);
  }
  const ULONGLONG end = GetTickCount64() + visit.wait_ms;
  while (true) {
    auto session = attach(visit, *dll);
    if (session || session.failure().code != ExitCode::already_profiled ||
        GetTickCount64() >= end) {
      return session;
    }
    Sleep(kTryAgainMs);
  }
}

void watch_freezes_of(TargetSession& session, std::uint32_t deadline_ms) {
  if (!session.patched() || !session.watch()->begin_handing()) return;
  session.watch()->set_deadline(deadline_ms);
  auto failure = watch_suspensions(module_path(nullptr), session.target_id());
  if (!failure) failure = watch_freezes(*session.watch());
  if (failure) spdlog::info(failure->message);
}

void meet_threads_of(std::uint32_t process_id, UnmatchedThreads& unmatched) {
  const UniqueHandle all(CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0));
  THREADENTRY32 entry{.dwSize = sizeof entry};
  for (BOOL more = Thread32First(all.get(), &entry); more;
       more = Thread32Next(all.get(), &entry)) {
    if (entry.th32OwnerProcessID != process_id) continue;
    const UniqueHandle thread = open_thread(THREAD_QUERY_LIMITED_INFORMATION, entry.th32ThreadID);
    unmatched.met(entry.th32ThreadID, thread ? thread_description(thread.get()) : "");
  }
}

DumpRequest sampling_request(const Sampling& sampling) {
  return {.engine = sampling.engine,
          .deadline_ms = sampling.deadline_ms,
          .probe = sampling.probe,
          .canary_id = sampling.canary_id,
          .canary_prefix = sampling.canary,
          .thread_ids = sampling.threads.ids,
          .at_once = sampling.at_once};
}

}  // namespace mixwalk
