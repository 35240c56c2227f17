#include "walker/cli/win/visit.h"

#include <spdlog/spdlog.h>
#include <windows.h>

#include "unmanaged/win/module_path.h"
#include "walker/session/win/processes.h"

namespace mixwalk {
namespace {

// mixwalk.dll lies beside mixwalk.exe.
Outcome<std::wstring> profiler_path() {
  std::wstring path = module_folder(nullptr) + L"mixwalk.dll";
  if (GetFileAttributesW(path.c_str()) == INVALID_FILE_ATTRIBUTES) {
    return Failure{ExitCode::internal, "mixwalk.dll is not beside mixwalk.exe"};
  }
  return path;
}

}  // namespace

Outcome<DumpSession> visit(const TargetChoice& choice, std::uint32_t timeout_ms) {
  const auto dll = profiler_path();
  if (!dll) return dll.failure();
  if (const auto* start = std::get_if<ByStart>(&choice)) {
    spdlog::info("starting {}", start->arguments.front());
    auto session = DumpSession::start(start->arguments, *dll, timeout_ms, start->allocations);
    if (session && !session->sleep(start->after_ms)) {
      return Failure{ExitCode::target_exited,
                     "process " + std::to_string(session->target_id()) + " (" +
                         session->target_name() + ") ended too soon"};
    }
    return session;
  }
  const auto* id = std::get_if<ById>(&choice);
  Outcome<Target> target =
      id != nullptr ? find_target(id->id) : find_target(std::get<ByName>(choice).name);
  if (!target) return target.failure();
  spdlog::info("attaching to process {} ({})", target->id, target->name);
  return DumpSession::attach(std::move(*target), *dll, timeout_ms);
}

DumpRequest sampling_request(const Sampling& sampling) {
  return {.engine = sampling.engine,
          .deadline_ms = sampling.deadline_ms,
          .probe = sampling.probe,
          .canary_prefix = sampling.canary,
          .thread_ids = sampling.threads};
}

}  // namespace mixwalk
