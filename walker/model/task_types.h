#pragma once

#include "walker/model/async.h"

namespace mixwalk {

// Whether the task stands for the task that a delegate returns: Task.Run(async …).
inline bool is_unwrap(const AsyncTask& task) {
  return task.type.starts_with("System.Threading.Tasks.UnwrapPromise<");
}

}  // namespace mixwalk
