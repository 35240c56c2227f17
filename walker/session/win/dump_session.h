#pragma once

#include <windows.h>

#include <cstdint>
#include <string>
#include <vector>

#include "walker/model/snapshot.h"
#include "walker/session/failure.h"
#include "walker/session/protocol.h"
#include "walker/session/win/processes.h"
#include "walker/session/win/session_pipe.h"

namespace mixwalk {

// One visit to a process: our DLL comes in by attach or by start, dumps, and leaves.
class DumpSession {
 public:
  // `dll`: mixwalk.dll, its whole path. Attaching and each answer are bounded by the time-out.
  static Outcome<DumpSession> attach(Target target, const std::wstring& dll,
                                     std::uint32_t timeout_ms);
  // Starts the program with the profiler in it; its console is ours. `allocations`: they may be
  // recorded; the runtime makes objects more slowly then, and keeps mixwalk.dll to its end.
  static Outcome<DumpSession> start(const std::vector<std::string>& arguments,
                                    const std::wstring& dll, std::uint32_t timeout_ms,
                                    bool allocations = false);

  // May be asked again.
  Outcome<Snapshot> dump(const DumpRequest& request);
  // Begins a recording; from here on next() is to be called until it gives `done`.
  std::optional<Failure> begin_record(const RecordRequest& request);
  // Asks for its end: what is on its way still comes.
  void stop_record();
  // The next of it, waited for that long.
  enum class Next { bytes, done, nothing_yet };
  Outcome<Next> next(std::uint32_t milliseconds, RecordedBytes& bytes);

  // Waits until the DLL has left the process, or a little while. An error text for a log, or empty.
  std::string leave();

  // Waits, but not longer than the process lives. False: it has ended.
  bool sleep(std::uint32_t milliseconds) const;
  const std::string& target_name() const noexcept { return target_.name; }
  std::uint32_t target_id() const noexcept { return target_.id; }

 private:
  DumpSession(SessionPipe pipe, Target target, std::uint32_t timeout_ms)
      : pipe_(std::move(pipe)), target_(std::move(target)), timeout_ms_(timeout_ms) {}
  Outcome<Hello> greet(const Deadline& deadline);
  std::optional<Failure> ensure_greeted(const Deadline& deadline);
  Failure failure_of(IoResult result) const;

  SessionPipe pipe_;
  Target target_;
  std::uint32_t timeout_ms_;
  std::optional<Hello> hello_;
};

}  // namespace mixwalk
