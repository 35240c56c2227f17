#include "walker/cli/win/dump_source.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <utility>

#include "unmanaged/image/debug_directory.h"
#include "walker/base/count_words.h"
#include "walker/cli/win/dump_outside.h"
#include "walker/cli/win/visit.h"
#include "walker/session/visit_failure.h"
#include "walker/session/win/patched_calls_of.h"
#include "walker/session/win/processes.h"
#include "walker/session/win/token.h"

namespace mixwalk {
namespace {

// A process that is ending loses its threads and its memory before its handle is signaled. A look that failed as if
// there were no process waits this long for the signal.
constexpr std::uint32_t kEndingMs = 1000;

}  // namespace

DumpSource::DumpSource(const DumpCommand& command, TargetSession::Progress progress, SymbolLoader& loader)
    : command_(command), progress_(std::move(progress)), loader_(loader) {}

// From here on, the end of the process is noticed, and the system gives its id to no other process.
void DumpSource::open(std::uint32_t id) {
  process_ = open_process(SYNCHRONIZE | PROCESS_QUERY_LIMITED_INFORMATION, id);
}

std::optional<std::uint32_t> DumpSource::exit_code() const {
  DWORD code = 0;
  return process_ && GetExitCodeProcess(process_.get(), &code) ? std::optional<std::uint32_t>(code) : std::nullopt;
}

// The failure of a look at a process that has ended. Returns nothing if the process runs on.
std::optional<Failure> DumpSource::end_of_process(std::uint32_t patience_ms) const {
  if (!process_ || WaitForSingleObject(process_.get(), patience_ms) != WAIT_OBJECT_0) return std::nullopt;
  return process_ended({.process = process_text_, .greeted = true, .exit_code = exit_code()});
}

Outcome<Snapshot> DumpSource::inside(const Visit& how, bool last) {
  OutsideLocks locks(command_);
  if (!session_) {
    auto session = visit(how);
    if (!session) return session.failure();
    session->set_timeout(command_.visit.timeout_ms);
    session_.emplace(std::move(*session));
  }
  DumpRequest request = sampling_request(command_.visit.sampling);
  // The request has only ids. If names are given, all threads are dumped, and those with the names are kept.
  if (!command_.visit.sampling.threads.names.empty()) request.thread_ids.clear();
  if (auto failure = session_->greet()) {
    session_.reset();
    return std::move(*failure);
  }
  watch_freezes_of(*session_, request.deadline_ms);
  auto snapshot = session_->dump(request, progress_);
  if (const auto patched = session_->patched_calls(); !patched.empty()) {
    spdlog::info("{}; mixwalk.exe ended {} of a thread", patched_calls_text(patched),
                 count_words(static_cast<std::uint64_t>(session_->given_back()), "freeze"));
  }
  if (!snapshot) {
    session_.reset();
    return snapshot;
  }
  // mixwalk.dll leaves the target before names are looked up and anything is written. A pager may keep the output
  // waiting, and the target must not wait for the pager.
  if (last) leave();
  locks.add_to(*snapshot);
  if (last) session_.reset();
  return snapshot;
}

// If the process has ended, a dump without stacks or managed frames does not say why they are missing.
Outcome<Snapshot> DumpSource::outside() {
  auto snapshot = dump_outside(command_, loader_);
  if (!snapshot) return snapshot;
  const auto is_skipped = [](const Thread& thread) { return !thread.skipped.empty(); };
  const bool some_skipped = std::ranges::any_of(snapshot->threads, is_skipped);
  const bool none_left = some_skipped && std::ranges::all_of(snapshot->threads, is_skipped);
  if (!none_left && snapshot->unasked.empty()) return snapshot;
  if (auto end = end_of_process(some_skipped ? kEndingMs : 0)) return std::move(*end);
  return snapshot;
}

// While a thread is frozen from inside, patched system calls may make every thread of mixwalk.dll wait for it. From
// outside nothing can. Returns nothing if no call is patched, or if managed frames would be missing.
std::optional<Outcome<Snapshot>> DumpSource::outside_patches() {
  const auto id = process_of(command_.visit.target);
  if (!id) return std::nullopt;
  const auto patched = patched_calls_of(*id);
  if (!patched) spdlog::info(patched.failure().message);
  if (!patched || patched->empty()) return std::nullopt;
  const std::string reason = patched_calls_text(*patched);
  spdlog::info("{}; looking from outside", reason);
  auto found = outside();
  if (!found && found.failure().code == ExitCode::target_exited) return found;
  if (!found || !found->unasked.empty()) return std::nullopt;
  capture_reason_ = reason;
  return found;
}

Outcome<Snapshot> DumpSource::first(bool last) {
  if (command_.capture == CaptureChoice::automatic) {
    if (auto found = outside_patches()) {
      command_.capture = CaptureChoice::outside;
      return std::move(*found);
    }
  }
  if (command_.capture == CaptureChoice::outside) return outside();
  if (command_.capture == CaptureChoice::inside) return inside(command_.visit, last);
  Visit quick = command_.visit;
  quick.timeout_ms = std::min(quick.timeout_ms, kAnswerMs);
  auto found = inside(quick, last);
  if (found) command_.capture = CaptureChoice::inside;
  if (found || !may_go_outside(found.failure())) return found;
  spdlog::info("{}; looking from outside", found.failure().message);
  auto from_outside = outside();
  // The first reason is more useful, since the user can do something about it.
  if (!from_outside) return found.failure();
  command_.capture = CaptureChoice::outside;
  capture_reason_ = found.failure().message;
  return from_outside;
}

Outcome<Snapshot> DumpSource::next(bool last) {
  if (!taken_) {
    // If there is no such process, the look says so.
    if (const auto id = process_of(command_.visit.target)) {
      open(*id);
      process_text_ = process_ ? describe_process(process_.get()) : describe_process(*id);
      if (end_of_process(0)) process_.reset();  // it did not end during the look
      command_.visit.target = ById{*id};  // when the next dump is taken, another process may have the name
    }
  }
  auto snapshot = !taken_                                      ? first(last)
                  : command_.capture == CaptureChoice::outside ? outside()
                                                               : inside(command_.visit, last);
  if (!snapshot) {
    const bool seems_ended = taken_ || snapshot.failure().code == ExitCode::no_process;
    if (snapshot.failure().code == ExitCode::target_exited) return snapshot;
    if (auto end = end_of_process(seems_ended ? kEndingMs : 0)) return std::move(*end);
    return snapshot;
  }
  if (!taken_ && !process_) {
    open(snapshot->process.id);
    // Of a started program that has ended meanwhile, the system may not know the name any more.
    process_text_ = describe_process(snapshot->process.id, std::string(file_name(snapshot->process.path)));
  }
  taken_ = true;
  snapshot->capture_reason = capture_reason_;
  return snapshot;
}

DumpSource::Event DumpSource::wait(ULONGLONG until, HANDLE stop) const {
  const ULONGLONG now = GetTickCount64();
  const DWORD left = now < until ? static_cast<DWORD>(until - now) : 0;
  std::array<HANDLE, 2> handles{};
  DWORD count = 0;
  if (process_) handles[count++] = process_.get();  // first, so that the end of the process is reported if both happen
  if (stop != nullptr) handles[count++] = stop;
  if (count == 0) Sleep(left);
  const DWORD met = count == 0 ? WAIT_TIMEOUT : WaitForMultipleObjects(count, handles.data(), FALSE, left);
  if (met == WAIT_TIMEOUT) return Event::time;
  return process_ && met == WAIT_OBJECT_0 ? Event::end_of_process : Event::stop;
}

Failure DumpSource::end() const {
  return {ExitCode::target_exited, process_text_ + " ended" + with_exit_code(exit_code())};
}

void DumpSource::leave() {
  if (!session_) return;
  if (const std::string problem = session_->leave(); !problem.empty()) spdlog::info(problem);
}

}  // namespace mixwalk
