#pragma once

#include <optional>
#include <string>

#include "unmanaged/win/unique_handle.h"
#include "walker/base/failure.h"
#include "walker/cli/options/options.h"
#include "walker/cli/symbol_loader.h"
#include "walker/model/snapshot.h"
#include "walker/session/win/target_session.h"

namespace mixwalk {

// Takes the dumps of one process that the command line asks for. From inside, mixwalk attaches once and stays until the
// last dump. The first dump decides between inside and outside. If a dump fails because the process has ended
// meanwhile, the failure is that (ExitCode::target_exited).
class DumpSource {
 public:
  // The source keeps a copy of the command, because the copy names the process by its id once the process is known.
  // `progress`: as in TargetSession::dump(); of a dump from inside. `loader`: as in dump_outside();
  // it must outlive the source.
  DumpSource(const DumpCommand& command, TargetSession::Progress progress, SymbolLoader& loader);
  DumpSource(const DumpSource&) = delete;
  DumpSource& operator=(const DumpSource&) = delete;

  // `last`: mixwalk.dll leaves the process once the stacks have arrived. The frames of native code have no names yet.
  Outcome<Snapshot> next(bool last);
  enum class Event { time, stop, end_of_process };
  // Between two dumps: waits until GetTickCount64() is `until`, or until `stop` is signaled (null: never), or until the
  // process ends.
  Event wait(ULONGLONG until, HANDLE stop) const;
  // The failure of a series whose process has ended.
  Failure end() const;
  const std::string& process_text() const noexcept { return process_text_; }  // "process 4711 (orders.exe)"
  // Detaches from the process before the last dump, if mixwalk is attached.
  void leave();

 private:
  void open(std::uint32_t id);
  std::optional<std::uint32_t> exit_code() const;
  std::optional<Failure> end_of_process(std::uint32_t patience_ms) const;
  Outcome<Snapshot> inside(const Visit& how, bool last);
  Outcome<Snapshot> outside();
  Outcome<Snapshot> first(bool last);
  std::optional<Outcome<Snapshot>> outside_patches();

  DumpCommand command_;
  const TargetSession::Progress progress_;
  SymbolLoader& loader_;
  UniqueHandle process_;      // no value if the process is not known yet, had ended before, or may not be opened
  std::string process_text_;
  bool taken_ = false;
  std::optional<TargetSession> session_;  // no value if not attached
  std::string capture_reason_;            // Snapshot::capture_reason
};

}  // namespace mixwalk
