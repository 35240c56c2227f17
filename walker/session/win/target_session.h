#pragma once

#include <windows.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "walker/base/failure.h"
#include "walker/model/snapshot.h"
#include "walker/session/patched_calls.h"
#include "walker/session/protocol.h"
#include "walker/session/win/processes.h"
#include "walker/session/win/session_pipe.h"
#include "walker/session/win/target_watch.h"

namespace mixwalk {

// One visit to a process: our DLL gets into the process by attach or by start, dumps, and leaves.
class TargetSession {
 public:
  // `dll`: the full path of mixwalk.dll. The time-out limits the attach and each answer. `pipe_buffer`: as for
  // create_pipe().
  static Outcome<TargetSession> attach(AttachTarget target, const std::wstring& dll, std::uint32_t timeout_ms,
                                       DWORD pipe_buffer = kPipeBuffer);
  // Starts the program with the profiler in it, in mixwalk.exe's console. `allocations`: allocations may be recorded.
  // The runtime then allocates objects more slowly, and keeps mixwalk.dll loaded until its end.
  static Outcome<TargetSession> start(const std::vector<std::string>& arguments,
                                    const std::wstring& dll, std::uint32_t timeout_ms,
                                    bool allocations = false);

  // Sets the time-out for all further answers.
  void set_timeout(std::uint32_t milliseconds) noexcept { timeout_ms_ = milliseconds; }
  // Waits until mixwalk.dll has sent its first message. dump() and begin_record() do so, too.
  std::optional<Failure> greet() { return ensure_greeted(Deadline(timeout_ms_)); }
  // May be called several times. `progress`: called after each message, with the number of threads so far.
  using Progress = std::function<void(std::size_t threads)>;
  Outcome<Snapshot> dump(const DumpRequest& request, const Progress& progress = {});
  // Begins a recording. After that, next() is to be called until it returns `done`.
  std::optional<Failure> begin_record(const RecordRequest& request);
  // Asks for the end of the recording. Data that are on their way still arrive.
  void stop_record();
  // Waits that long for the next data of the recording.
  enum class Next { bytes, done, nothing_yet };
  Outcome<Next> next(std::uint32_t milliseconds, RecordedBytes& bytes);

  // Waits a limited time until the DLL has left the process. Returns an error text for a log, or an empty text.
  std::string leave();

  // Waits for that time, or until the process ends. Returns false if the process has ended.
  bool sleep(std::uint32_t milliseconds) const;
  // The exit code of the process. Returns nothing if it has not ended within that time.
  std::optional<std::uint32_t> exit_code(std::uint32_t milliseconds) const;
  // What a user should know about the processes that the process has started (launched_children.h).
  std::string children_text();
  const std::string& target_name() const noexcept { return target_.name; }
  std::uint32_t target_id() const noexcept { return target_.id; }
  // How many events that the recording wants have happened in the target. RecordProgress::events is the recording's own
  // final count.
  std::uint64_t events() const noexcept { return watch_ ? watch_->events() : 0; }
  // LedgerPage::unjudged_events.
  std::uint64_t unjudged_events() const noexcept { return watch_ ? watch_->unjudged_events() : 0; }
  // The system calls of the target that were patched when mixwalk.dll sent its first message. Empty before that.
  std::span<const PatchedCall> patched_calls() const noexcept {
    return watch_ ? watch_->patched_calls() : std::span<const PatchedCall>();
  }
  // Whether system calls of the target are patched, also if this was found later.
  bool patched() const noexcept { return watch_ && watch_->patched(); }
  // Null before mixwalk.dll's first message.
  TargetWatch* watch() const noexcept { return watch_.get(); }
  // How many suspensions that mixwalk.dll had left behind were undone by this process.
  int given_back() const noexcept { return watch_ ? watch_->given_back() : 0; }

 private:
  TargetSession(SessionPipe pipe, AttachTarget target, std::uint32_t timeout_ms)
      : target_(std::move(target)), pipe_(std::move(pipe)), timeout_ms_(timeout_ms) {}
  Outcome<Hello> receive_hello(const Deadline& deadline);
  std::optional<Failure> ensure_greeted(const Deadline& deadline);
  std::optional<Failure> share_ledger(const Hello& hello, const Deadline& deadline);
  Failure failure_of(IoResult result) const;
  IoResult accept(const Deadline& deadline);
  std::optional<Failure> failure_in(const std::optional<Message>& message) const;

  AttachTarget target_;
  // Declared here so that it is destroyed after the pipe and before the process. The agent ends when the pipe closes,
  // and is watched until its end.
  std::unique_ptr<TargetWatch> watch_;
  SessionPipe pipe_;
  std::uint32_t timeout_ms_;
  bool started_ = false;  // whether we started the process
  bool greeted_ = false;  // whether mixwalk.dll has sent a message
  std::optional<Hello> hello_;  // its first message, if the visit can go on
};

}  // namespace mixwalk
