#include "walker/session/win/dump_session.h"

#include <cstdio>
#include <cstring>

#include "unmanaged/win/utf8.h"
#include "walker/profiler/clsid.h"
#include "walker/session/diagnostics_ipc.h"
#include "walker/session/snapshot_collector.h"
#include "walker/session/win/diagnostics_port.h"
#include "walker/session/win/environment.h"
#include "walker/session/win/win_error.h"
#include "walker/session/windows_arguments.h"

namespace mixwalk {
namespace {

// How long a detach may take before nobody waits for it any more: the runtime looks once in a
// while whether all threads have left the profiler.
constexpr DWORD kLeaveMs = 10'000;

std::string process_text(const Target& target) {
  return "process " + std::to_string(target.id) +
         (target.name.empty() ? "" : " (" + target.name + ")");
}

std::string hresult_text(std::uint32_t hresult) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08X", hresult);
  return text;
}

// HRESULTs of the runtime's corerror.h and of its diagnostics port.
Failure attach_failure(const Target& target, std::uint32_t hresult) {
  constexpr std::uint32_t kAlreadyActive = 0x8013136A, kDetaching = 0x80131367;
  constexpr std::uint32_t kNotYetStarted = 0x80131364, kNotYetAvailable = 0x8013135B;
  constexpr std::uint32_t kProfilerDisabled = 0x80131385;
  switch (hresult) {
    case kAlreadyActive:
    case kDetaching:
      return {ExitCode::already_profiled,
              "another profiler is attached to " + process_text(target) + " already"};
    case kNotYetStarted:
    case kNotYetAvailable:
    case kProfilerDisabled:
      return {ExitCode::not_started, "the .NET runtime of " + process_text(target) +
                                         " is still starting; try again in a moment"};
    default:
      return {ExitCode::refused, "the .NET runtime of " + process_text(target) +
                                     " refused to load mixwalk.dll (" + hresult_text(hresult) +
                                     ")"};
  }
}

}  // namespace

Failure DumpSession::failure_of(IoResult result) const {
  switch (result) {
    case IoResult::exited:
      return {ExitCode::target_exited, process_text(target_) + " ended meanwhile"};
    case IoResult::timeout:
      return {ExitCode::timeout, process_text(target_) + " did not answer in time"};
    case IoResult::closed:
      return {ExitCode::refused,
              "mixwalk.dll left " + process_text(target_) + " without a word"};
    default:
      return {ExitCode::internal, "the pipe to " + process_text(target_) + " failed"};
  }
}

Outcome<DumpSession> DumpSession::attach(Target target, const std::wstring& dll,
                                         std::uint32_t timeout_ms) {
  Outcome<SessionPipe> pipe = SessionPipe::create();
  if (!pipe) return pipe.failure();
  const Deadline deadline(timeout_ms);
  AttachRequest request{.timeout_ms = timeout_ms,
                        .profiler_path = std::u16string(dll.begin(), dll.end()),
                        .client_data = to_utf8(pipe->name())};
  std::memcpy(request.clsid.data(), &kProfilerClsid, sizeof kProfilerClsid);
  const auto bytes = encode_attach(request);
  if (!bytes) return Failure{ExitCode::internal, "the path of mixwalk.dll is too long"};

  const auto reply = ask_diagnostics_port(target.id, target.process.get(), *bytes, deadline);
  if (!reply) return reply.failure();
  if (!reply->ok || static_cast<std::int32_t>(reply->hresult) < 0) {
    return attach_failure(target, reply->hresult);
  }
  DumpSession session(std::move(*pipe), std::move(target), timeout_ms);
  auto hello = session.greet(deadline);
  if (!hello) return hello.failure();
  session.hello_ = std::move(*hello);
  return session;
}

Outcome<DumpSession> DumpSession::start(const std::vector<std::string>& arguments,
                                        const std::wstring& dll, std::uint32_t timeout_ms,
                                        bool allocations) {
  Outcome<SessionPipe> pipe = SessionPipe::create();
  if (!pipe) return pipe.failure();
  // The same class for .NET (CORECLR_*) and for .NET Framework (COR_*).
  std::vector<std::pair<std::wstring, std::wstring>> variables = {
      {L"CORECLR_ENABLE_PROFILING", L"1"}, {L"CORECLR_PROFILER", kProfilerClsidText},
      {L"CORECLR_PROFILER_PATH", dll},     {L"COR_ENABLE_PROFILING", L"1"},
      {L"COR_PROFILER", kProfilerClsidText}, {L"COR_PROFILER_PATH", dll},
      {L"MIXWALK_PIPE", pipe->name()}};
  if (allocations) variables.emplace_back(L"MIXWALK_ALLOCATIONS", L"1");
  std::wstring environment = environment_with(variables);
  std::wstring command_line = to_utf16(join_windows_arguments(arguments));
  STARTUPINFOW startup{.cb = sizeof startup};
  PROCESS_INFORMATION created{};
  if (!CreateProcessW(nullptr, command_line.data(), nullptr, nullptr, TRUE,
                      CREATE_UNICODE_ENVIRONMENT, environment.data(), nullptr, &startup,
                      &created)) {
    return Failure{ExitCode::not_launched,
                   "cannot start \"" + arguments.front() + "\": " + last_error()};
  }
  CloseHandle(created.hThread);
  Target target{created.dwProcessId, arguments.front(), UniqueHandle(created.hProcess)};
  return DumpSession(std::move(*pipe), std::move(target), timeout_ms);
}

Outcome<Hello> DumpSession::greet(const Deadline& deadline) {
  pipe_.watch(target_.process.get());
  IoResult result = pipe_.accept(deadline);
  std::optional<Message> message;
  if (result == IoResult::ok) result = pipe_.receive(message, deadline);
  if (result != IoResult::ok) return failure_of(result);
  auto* hello = message ? std::get_if<Hello>(&*message) : nullptr;
  if (hello == nullptr || hello->protocol != kProtocolVersion) {
    return Failure{ExitCode::refused, "the mixwalk.dll in " + process_text(target_) +
                                          " is not of this version of mixwalk"};
  }
  return std::move(*hello);
}

Outcome<Snapshot> DumpSession::dump(const DumpRequest& request) {
  const Deadline deadline(timeout_ms_);
  if (auto failure = ensure_greeted(deadline)) return std::move(*failure);
  IoResult result = pipe_.send(request, deadline);
  if (result != IoResult::ok) return failure_of(result);
  SnapshotCollector collector;
  collector.begin(*hello_, request.engine);
  while (true) {
    std::optional<Message> message;
    result = pipe_.receive(message, deadline);
    if (result != IoResult::ok) return failure_of(result);
    const auto step = message ? collector.accept(std::move(*message))
                              : SnapshotCollector::Step::protocol_error;
    if (step == SnapshotCollector::Step::done) return collector.finish();
    if (step == SnapshotCollector::Step::protocol_error) {
      return Failure{ExitCode::refused,
                     process_text(target_) + " sent what is no dump of mixwalk.dll"};
    }
  }
}

// A program that we started has had its time to load the runtime.
std::optional<Failure> DumpSession::ensure_greeted(const Deadline& deadline) {
  if (hello_) return std::nullopt;
  auto hello = greet(deadline);
  if (hello) {
    hello_ = std::move(*hello);
    return std::nullopt;
  }
  if (hello.failure().code != ExitCode::timeout) return hello.failure();
  return Failure{ExitCode::not_dotnet, process_text(target_) + " did not load a .NET runtime"};
}

std::optional<Failure> DumpSession::begin_record(const RecordRequest& request) {
  const Deadline deadline(timeout_ms_);
  if (auto failure = ensure_greeted(deadline)) return failure;
  const IoResult result = pipe_.send(request, deadline);
  if (result != IoResult::ok) return failure_of(result);
  return std::nullopt;
}

void DumpSession::stop_record() { pipe_.send(StopRequest{}, Deadline(kLeaveMs)); }

Outcome<DumpSession::Next> DumpSession::next(std::uint32_t milliseconds, RecordedBytes& bytes) {
  if (!pipe_.wait(milliseconds)) return Next::nothing_yet;
  std::optional<Message> message;
  const IoResult result = pipe_.receive(message, Deadline(timeout_ms_));
  if (result != IoResult::ok) return failure_of(result);
  if (message) {
    if (auto* recorded = std::get_if<RecordedBytes>(&*message)) {
      bytes = std::move(*recorded);
      return Next::bytes;
    }
    if (std::holds_alternative<RecordDone>(*message)) return Next::done;
  }
  return Failure{ExitCode::refused,
                 process_text(target_) + " sent what is no recording of mixwalk.dll"};
}

std::string DumpSession::leave() {
  const Deadline deadline(kLeaveMs);
  IoResult result = pipe_.send(DetachRequest{}, deadline);
  std::optional<Message> message;
  if (result == IoResult::ok) result = pipe_.receive(message, deadline);
  const auto* detached = message ? std::get_if<Detached>(&*message) : nullptr;
  if (detached != nullptr && detached->result == 0) return {};
  if (detached != nullptr) {
    return "the runtime keeps mixwalk.dll loaded (" + hresult_text(detached->result) + ")";
  }
  return result == IoResult::timeout ? "mixwalk.dll is still leaving" : failure_of(result).message;
}

bool DumpSession::sleep(std::uint32_t milliseconds) const {
  return WaitForSingleObject(target_.process.get(), milliseconds) != WAIT_OBJECT_0;
}

}  // namespace mixwalk
