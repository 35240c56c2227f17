#include "tests/end_to_end/session.h"

#include <stdexcept>

#include "symbols/symboliser.h"
#include "tests/support/win/child_process.h"
#include "unmanaged/win/utf8.h"
#include "walker/export/text.h"
#include "walker/naming/symbolise.h"

namespace mixwalk {

TargetSession attach_to(std::uint32_t process_id, const std::string& dll, std::uint32_t timeout_ms,
                        DWORD pipe_buffer) {
  auto target = find_target(process_id);
  if (!target) throw std::runtime_error(target.failure().message);
  auto session = TargetSession::attach(std::move(*target), to_utf16(beside(dll)), timeout_ms, pipe_buffer);
  if (!session) throw std::runtime_error(session.failure().message);
  return std::move(*session);
}

Snapshot dump_named(TargetSession& session, const DumpRequest& request) {
  auto snapshot = session.dump(request);
  if (!snapshot) throw std::runtime_error(snapshot.failure().message);
  name_native_frames(*snapshot);
  return std::move(*snapshot);
}

void name_native_frames(Snapshot& snapshot) {
  static DiskImageFiles files;
  static Symboliser symboliser(files, files);
  symbolise(snapshot, symboliser);
}

const Thread& thread_of(const Snapshot& snapshot, std::uint32_t os_id) {
  for (const Thread& thread : snapshot.threads) {
    if (thread.os_id == os_id) return thread;
  }
  throw std::runtime_error("no thread " + std::to_string(os_id));
}

const Thread& thread_named(const Snapshot& snapshot, const std::string& name) {
  for (const Thread& thread : snapshot.threads) {
    if (thread.name == name) return thread;
  }
  throw std::runtime_error("no thread \"" + name + "\"");
}

std::vector<const Thread*> threads_that_begin(const Snapshot& snapshot, std::string_view name) {
  std::vector<const Thread*> found;
  for (const Thread& thread : snapshot.threads) {
    if (thread.name.starts_with(name)) found.push_back(&thread);
  }
  return found;
}

std::string to_text(const Snapshot& snapshot, const Thread& thread) {
  Snapshot one = snapshot;
  one.threads = {thread};
  StringSink sink;
  write_text(one, {}, sink);
  return sink.text;
}

bool all_runs_closed(const Stack& stack) {
  const std::vector<Run> runs = stack.runs();
  for (const Run& run : runs) {
    const bool last = &run == &runs.back();
    if (run.end != (last ? RunEnd::root : RunEnd::closed)) return false;
  }
  return !runs.empty() && stack.whole();
}

}  // namespace mixwalk
