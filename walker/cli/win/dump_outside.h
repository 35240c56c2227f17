#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <string>

#include "walker/base/failure.h"
#include "walker/cli/options.h"
#include "walker/model/snapshot.h"
#include "walker/outside/win/live_target.h"
#include "walker/outside/win/target_clr.h"

namespace mixwalk {

// The stacks of a process that is only read: nothing is loaded into it and nothing is asked of it. Managed frames
// come by way of the runtime's debugging library, in a process of its own.
Outcome<Snapshot> dump_outside(const DumpCommand& command);

// The process that is meant, .NET or not.
Outcome<std::uint32_t> process_of(const TargetChoice& choice);  // ById or ByName

// Adds to a dump from inside what only a look from outside tells: the monitors of managed objects, when threads began and
// what processor time they had used. The process runs on meanwhile.
class OutsideLocks {
 public:
  // Begins to prepare the look, in a thread of its own: a worker takes as long to start as the dump itself. A program
  // that is yet to be started is prepared for in add_to(). `command` must outlive this.
  explicit OutsideLocks(const DumpCommand& command);
  // Waits a while for that thread to come to its end.
  ~OutsideLocks();
  // Where nothing can be asked, locks_missing says why.
  void add_to(Snapshot& snapshot);

 private:
  struct Prepared {
    std::unique_ptr<LiveTarget> target;  // null: `obstacle` says why
    TargetClr clr;
    std::string obstacle;
  };
  static Prepared prepare(std::uint32_t process_id, const DumpCommand& command);

  const DumpCommand& command_;
  std::future<Prepared> prepared_;
};

// Has the threads of a process that are suspended from here on resumed, also where mixwalk.exe is ended meanwhile. Where
// that cannot be had, -v says why.
void watch_suspensions_of(std::uint32_t process_id);

// Adds to a live process's symbolised snapshot the native locks that threads wait for (native_waits.h).
void add_native_locks_of(Snapshot& snapshot);

// Whether a visit that failed so can be made from outside instead: nothing answered in the process, or what answered
// would not let mixwalk.dll in.
bool may_go_outside(const Failure& failure) noexcept;

}  // namespace mixwalk
