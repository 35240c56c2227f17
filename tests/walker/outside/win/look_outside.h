#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "walker/model/snapshot.h"

namespace mixwalk {

// What a look at a live process from outside brought.
struct OutsideLook {
  Snapshot snapshot;     // managed frames named, native ones not
  std::string failure;   // not empty: nothing was looked at
  std::string obstacle;  // of the questions
  std::string dac;       // the library's path
  unsigned long long open_ms = 0, dac_ms = 0, walk_ms = 0, names_ms = 0;
};

// `worker`: the program that is started as the worker, UTF-8. The library beside the runtime is used, whoever has
// signed it.
OutsideLook look_outside(std::uint32_t process_id, const std::string& worker);
// The same of a dump file.
OutsideLook look_at_dump(const std::string& path, const std::string& worker);

class LiveTarget;
class WorkerQuestions;

// Many looks at one live process. Throws std::runtime_error where none is possible.
class OutsideSession {
 public:
  OutsideSession(std::uint32_t process_id, const std::string& worker);
  ~OutsideSession();

  // Managed frames are named. at_once_ms: all threads stand together, that long at most; 0: each by itself.
  Snapshot dump(std::uint32_t at_once_ms = 0);

 private:
  std::unique_ptr<LiveTarget> target_;
  std::unique_ptr<WorkerQuestions> clr_;
};

}  // namespace mixwalk
