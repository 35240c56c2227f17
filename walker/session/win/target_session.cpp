#include "walker/session/win/target_session.h"

#include <algorithm>
#include <cstring>

#include "unmanaged/win/utf8.h"
#include "walker/session/clsid.h"
#include "walker/session/diagnostics_ipc.h"
#include "walker/session/runtime_refusal.h"
#include "walker/session/snapshot_collector.h"
#include "walker/session/start_variables.h"
#include "walker/session/visit_failure.h"
#include "walker/session/win/child_processes.h"
#include "walker/session/win/diagnostics_port.h"
#include "walker/session/win/environment.h"
#include "walker/session/win/start_process.h"
#include "walker/session/win/token.h"
#include "walker/session/win/win_error.h"
#include "walker/session/windows_arguments.h"

namespace mixwalk {
namespace {

// How long mixwalk.exe waits for a detach. The wait is long because the runtime checks only from time to time whether
// all threads have left the profiler.
constexpr DWORD kLeaveMs = 10'000;
// How many times as long as for one message to wait for a whole dump.
constexpr std::uint32_t kMostTimeouts = 20;

std::string process_text(const AttachTarget& target) {
  return "process " + std::to_string(target.id) +
         (target.name.empty() ? "" : " (" + target.name + ")");
}

Failure no_memory(const AttachTarget& target) {
  return {ExitCode::no_memory, process_text(target) + " has no memory left for mixwalk.dll"};
}

// The variables name the same class for .NET (CORECLR_*) and for .NET Framework (COR_*).
std::vector<VariableChange> start_variables(const std::wstring& pipe, const std::wstring& dll,
                                            bool allocations) {
  std::vector<VariableChange> changes;
  for (const std::wstring name : kProfilerVariables) {
    changes.emplace_back(kKeptPrefix + name, environment_variable(name.c_str()));
    changes.emplace_back(name, std::nullopt);
  }
  for (const std::wstring prefix : {L"CORECLR_", L"COR_"}) {
    changes.emplace_back(prefix + L"ENABLE_PROFILING", L"1");
    changes.emplace_back(prefix + L"PROFILER", kProfilerClsidText);
    changes.emplace_back(prefix + L"PROFILER_PATH", dll);
  }
  changes.emplace_back(kPipeVariable, pipe);
  if (allocations) changes.emplace_back(kAllocationsVariable, L"1");
  return changes;
}

}  // namespace

Failure TargetSession::failure_of(IoResult result) const {
  VisitState state{.process = process_text(target_), .started = started_, .greeted = greeted_};
  switch (result) {
    case IoResult::exited:
      state.exit_code = exit_code(0);
      return process_ended(state);
    case IoResult::timeout: return process_silent(state);
    case IoResult::closed: return profiler_gone(state);
    case IoResult::dll_thread_ended:
      return {ExitCode::refused, "the thread of mixwalk.dll in " + process_text(target_) +
                                     " was ended by somebody else"};
    default:
      return {ExitCode::internal, "the pipe to " + process_text(target_) + " failed"};
  }
}

// From here on the target is watched, and may freeze threads.
std::optional<Failure> TargetSession::share_ledger(const Hello& hello, const Deadline& deadline) {
  auto watch = TargetWatch::begin(target_, hello.agent_thread);
  if (!watch) {
    // A process that is ending may have lost all of its threads before its handle is signaled. Then no watch can begin,
    // and this is not the failure to report.
    constexpr DWORD kEndingMs = 1'000;
    const bool ended = WaitForSingleObject(target_.process.get(), kEndingMs) == WAIT_OBJECT_0;
    return ended ? failure_of(IoResult::exited) : watch.failure();
  }
  watch_ = std::move(*watch);
  pipe_.watch_dll_thread(watch_->dll_thread_ended());
  const auto section = reinterpret_cast<std::uint64_t>(watch_->ledger_of_target());
  const IoResult result = pipe_.send(LedgerOffer{section}, deadline);
  if (result != IoResult::ok) return failure_of(result);
  return std::nullopt;
}

// The failure that a message reports where another message was expected. Returns nothing for any other message.
std::optional<Failure> TargetSession::failure_in(const std::optional<Message>& message) const {
  if (!message) return std::nullopt;
  if (const auto* problem = std::get_if<Problem>(&*message)) {
    return Failure{ExitCode::refused, process_text(target_) + ": " + problem->text};
  }
  const auto* failed = std::get_if<VisitFailed>(&*message);
  if (failed == nullptr) return std::nullopt;
  if (failed->why == VisitFailed::Why::no_memory) return no_memory(target_);
  return Failure{ExitCode::internal,
                 "mixwalk.dll in " + process_text(target_) + " met a defect of its own, and left"};
}

Outcome<TargetSession> TargetSession::attach(AttachTarget target, const std::wstring& dll,
                                             std::uint32_t timeout_ms, DWORD pipe_buffer) {
  const auto token = token_facts(target.process.get());
  if (!token) {
    return Failure{ExitCode::no_access, "cannot learn which user runs " + process_text(target) +
                                            ": " + last_error()};
  }
  Outcome<SessionPipe> pipe = SessionPipe::create(token, pipe_buffer);
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
    return attach_refusal(process_text(target), reply->hresult);
  }
  TargetSession session(std::move(*pipe), std::move(target), timeout_ms);
  if (auto failure = session.ensure_greeted(deadline)) return std::move(*failure);
  return session;
}

Outcome<TargetSession> TargetSession::start(const std::vector<std::string>& arguments,
                                        const std::wstring& dll, std::uint32_t timeout_ms,
                                        bool allocations) {
  Outcome<SessionPipe> pipe = SessionPipe::create(std::nullopt);
  if (!pipe) return pipe.failure();
  std::wstring environment = environment_with(start_variables(pipe->name(), dll, allocations));
  STARTUPINFOW startup{.cb = sizeof startup};
  StartedProcess started = start_process(nullptr, to_utf16(join_windows_arguments(arguments)),
                                         CREATE_UNICODE_ENVIRONMENT, environment.data(), startup);
  if (!started.process) {
    return Failure{ExitCode::not_launched, "cannot start \"" + arguments.front() +
                                               "\": " + image_error_text(started.error, arguments.front())};
  }
  AttachTarget target{started.id, arguments.front(), std::move(started.process)};
  TargetSession session(std::move(*pipe), std::move(target), timeout_ms);
  session.started_ = true;
  return session;
}

// Waits for mixwalk.dll in the process. If it has come into a child of a started program instead, the program is a
// launcher, and need not be waited for much longer.
IoResult TargetSession::accept(const Deadline& deadline) {
  constexpr DWORD kLookMs = 500;
  constexpr int kLooksAfterChild = 4;
  for (int looks = 0; looks < kLooksAfterChild;) {
    const DWORD left = deadline.remaining_ms();
    const IoResult result = pipe_.accept(Deadline(std::min(left, kLookMs)));
    if (result != IoResult::timeout || left <= kLookMs) return result;
    if (!started_ || pipe_.rejected_client() == 0) continue;
    const auto children = launched_by(target_.process.get(), pipe_.rejected_client()).children;
    if (std::ranges::find(children, pipe_.rejected_client(), &LaunchedChild::id) != children.end()) ++looks;
  }
  return IoResult::timeout;
}

std::string TargetSession::children_text() {
  // A launcher that ends at once leaves a child that has not loaded its runtime yet. If that child was a launcher too,
  // and has ended, only the pipe will show its own child.
  constexpr DWORD kLoadingMs = 3000, kLookMs = 100;
  const auto code = exit_code(0);
  const Deadline deadline(kLoadingMs);
  while (true) {
    const std::uint32_t client = pipe_.any_client();
    const Launched launched = launched_by(target_.process.get(), client);
    const bool may_come = launched.others || (code == 0u && client == 0);
    const bool wait = code.has_value() && launched.children.empty() && may_come && deadline.remaining_ms() != 0;
    if (!wait) return mixwalk::children_text(launched.children);
    Sleep(kLookMs);
  }
}

Outcome<Hello> TargetSession::receive_hello(const Deadline& deadline) {
  pipe_.watch(target_.process.get());
  IoResult result = accept(deadline);
  std::optional<Message> message;
  if (result == IoResult::ok) result = pipe_.receive(message, deadline);
  if (result != IoResult::ok) return failure_of(result);
  if (auto failure = failure_in(message)) return std::move(*failure);
  auto* hello = message ? std::get_if<Hello>(&*message) : nullptr;
  if (hello == nullptr || hello->protocol != kProtocolVersion) {
    return Failure{ExitCode::refused, "the mixwalk.dll in " + process_text(target_) +
                                          " is not of this version of mixwalk"};
  }
  greeted_ = true;
  if (auto failure = share_ledger(*hello, deadline)) return std::move(*failure);
  return std::move(*hello);
}

Outcome<Snapshot> TargetSession::dump(const DumpRequest& request, const Progress& progress) {
  const Deadline deadline(timeout_ms_);
  if (auto failure = ensure_greeted(deadline)) return std::move(*failure);
  watch_->set_deadline(request.deadline_ms);
  IoResult result = pipe_.send(request, deadline);
  if (result != IoResult::ok) return failure_of(result);
  SnapshotCollector collector;
  collector.begin(*hello_, request.engine);
  // Folklore: a target that answers may need longer for the whole dump than for any one answer. Real case: a program
  // with a thousand threads, on a machine that was ten times slower for a minute (hunt_test); its dump ended with "did
  // not answer in time" after 30 s. Remedy: each message has the limit of its own. The limit of the whole ends a dump
  // of a target that sends for ever.
  const std::uint64_t most_ms = std::uint64_t{kMostTimeouts} * timeout_ms_;
  const Deadline whole(static_cast<DWORD>(std::min<std::uint64_t>(most_ms, MAXDWORD)));
  while (true) {
    std::optional<Message> message;
    result = pipe_.receive(message, Deadline(std::min<DWORD>(timeout_ms_, whole.remaining_ms())));
    if (result != IoResult::ok) return failure_of(result);
    if (auto failure = failure_in(message)) return std::move(*failure);
    const auto step = message ? collector.accept(std::move(*message))
                              : SnapshotCollector::Step::protocol_error;
    if (step == SnapshotCollector::Step::done) return collector.finish();
    if (progress) progress(collector.threads());
    if (step == SnapshotCollector::Step::protocol_error) {
      return Failure{ExitCode::refused,
                     process_text(target_) + " sent what is no dump of mixwalk.dll"};
    }
  }
}

std::optional<Failure> TargetSession::ensure_greeted(const Deadline& deadline) {
  if (hello_) return std::nullopt;
  auto hello = receive_hello(deadline);
  if (hello) {
    hello_ = std::move(*hello);
    return std::nullopt;
  }
  if (!started_ || greeted_) return hello.failure();
  const std::string children = children_text();
  if (children.empty()) return hello.failure();
  const Failure& failure = hello.failure();
  if (failure.code == ExitCode::not_dotnet) {
    return Failure{ExitCode::not_dotnet, process_text(target_) + " did not load a .NET runtime" + children};
  }
  return failure.code == ExitCode::target_exited ? Failure{failure.code, failure.message + children} : failure;
}

std::optional<Failure> TargetSession::begin_record(const RecordRequest& request) {
  const Deadline deadline(timeout_ms_);
  if (auto failure = ensure_greeted(deadline)) return failure;
  watch_->set_deadline(request.sampling.deadline_ms);
  const IoResult result = pipe_.send(request, deadline);
  if (result != IoResult::ok) return failure_of(result);
  return std::nullopt;
}

void TargetSession::stop_record() { pipe_.send(StopRequest{}, Deadline(kLeaveMs)); }

Outcome<TargetSession::Next> TargetSession::next(std::uint32_t milliseconds, RecordedBytes& bytes) {
  if (!pipe_.wait(milliseconds)) return Next::nothing_yet;
  std::optional<Message> message;
  const IoResult result = pipe_.receive(message, Deadline(timeout_ms_));
  if (result != IoResult::ok) return failure_of(result);
  if (auto failure = failure_in(message)) return std::move(*failure);
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

std::string TargetSession::leave() {
  const Deadline deadline(kLeaveMs);
  IoResult result = pipe_.send(DetachRequest{}, deadline);
  std::optional<Message> message;
  if (result == IoResult::ok) result = pipe_.receive(message, deadline);
  const auto* detached = message ? std::get_if<Detached>(&*message) : nullptr;
  if (detached != nullptr && detached->result == 0) return {};
  if (detached != nullptr) return detach_refusal(detached->result);
  if (const auto failure = failure_in(message)) return failure->message;
  return result == IoResult::timeout ? "mixwalk.dll is still leaving" : failure_of(result).message;
}

bool TargetSession::sleep(std::uint32_t milliseconds) const {
  return WaitForSingleObject(target_.process.get(), milliseconds) != WAIT_OBJECT_0;
}

std::optional<std::uint32_t> TargetSession::exit_code(std::uint32_t milliseconds) const {
  DWORD code = 0;
  if (sleep(milliseconds) || !GetExitCodeProcess(target_.process.get(), &code)) return std::nullopt;
  return code;
}

}  // namespace mixwalk
