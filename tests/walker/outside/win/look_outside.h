#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "walker/model/runtime_source.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// The result of a look at a live process from outside.
struct OutsideLook {
  Snapshot snapshot;     // managed frames have names, native ones do not
  std::string failure;   // if not empty, the process could not be walked
  std::string obstacle;  // why the questions were not answered
  std::string dac;       // the library's path
  unsigned long long open_ms = 0, dac_ms = 0, walk_ms = 0, names_ms = 0;
};

// `worker` is the program that is started as the worker, UTF-8. The library beside the runtime is used, whatever its
// signature is.
OutsideLook look_outside(std::uint32_t process_id, const std::string& worker);
// Does the same with a dump file.
OutsideLook look_at_dump(const std::string& path, const std::string& worker);
// The stacks of a dump file with the names that the runtime's data contracts give. Throws std::runtime_error if they
// cannot answer.
Snapshot dump_by_contracts(const std::string& path);

class LiveTarget;
class ClrQuestions;

// Looks at one live process many times. Its runtime is asked as mixwalk asks it: by the data contracts, or else through
// the debugging library, if `source` allows that. Throws std::runtime_error if that is not possible.
class OutsideSession {
 public:
  OutsideSession(std::uint32_t process_id, const std::string& worker,
                 RuntimeSource source = RuntimeSource::automatic);
  ~OutsideSession();

  // Managed frames get their names. If at_once_ms is not 0, all threads are suspended together, for that long at most;
  // if it is 0, each thread is suspended by itself.
  Snapshot dump(std::uint32_t at_once_ms = 0);

 private:
  std::unique_ptr<LiveTarget> target_;
  std::unique_ptr<ClrQuestions> clr_;
};

}  // namespace mixwalk
