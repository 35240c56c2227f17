#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <string>

#include "walker/base/failure.h"
#include "walker/cli/options/options.h"
#include "walker/cli/symbol_loader.h"
#include "walker/clr/win/target_clr.h"
#include "walker/model/snapshot.h"
#include "walker/target/win/live_target.h"

namespace mixwalk {

// The stacks of a process that is only read: nothing is loaded into the process, and no code in it is asked. The
// runtime's debugging library, which runs in a separate process, names the managed frames. If this library is needed and
// is not on this machine, `loader` asks its servers for it, before any thread is suspended.
Outcome<Snapshot> dump_outside(const DumpCommand& command, SymbolLoader& loader);

// Adds to a dump from inside the facts that can only be read from outside: the monitors of managed objects, when
// threads began, and how much processor time they had used. The process runs meanwhile.
class OutsideLocks {
 public:
  // Begins to prepare the reading from outside, in a separate thread, because a worker takes as long to start as the
  // dump itself. If the program has yet to be started, add_to() does the preparation. `command` must outlive this
  // object.
  explicit OutsideLocks(const DumpCommand& command);
  // Waits a limited time for the end of that thread.
  ~OutsideLocks();
  // If the process or its runtime cannot be asked, locks_missing says why.
  void add_to(Snapshot& snapshot);

 private:
  struct Prepared {
    std::unique_ptr<LiveTarget> target;  // null if it cannot be read; `obstacle` says why
    OpenedClr clr;
    std::string obstacle;
  };
  static Prepared prepare(std::uint32_t process_id, const DumpCommand& command);

  const DumpCommand& command_;
  std::future<Prepared> prepared_;
};

// Ensures that the threads of a process that are suspended from here on are resumed, even if mixwalk.exe is ended
// meanwhile. If no watcher can be started for this, -v says why.
void watch_suspensions_of(std::uint32_t process_id);

// Adds to a live process's symbolised snapshot the native locks that threads wait for (native_waits.h), and what the
// system's wait chains say about its threads (wait_chain.h). If these take too long, locks_missing says so.
void add_native_locks_of(Snapshot& snapshot);

// Whether a visit that ended with this failure can be replaced by a reading from outside: nothing in the process
// answered, or the runtime did not let mixwalk.dll in, or mixwalk.dll does not exist.
bool may_go_outside(const Failure& failure) noexcept;

}  // namespace mixwalk
