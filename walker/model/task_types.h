#pragma once

#include "walker/model/async.h"

namespace mixwalk {

// Whether the task stands for the task that a delegate returns: Task.Run(async …).
inline bool is_unwrap(const AsyncTask& task) {
  return task.type.starts_with("System.Threading.Tasks.UnwrapPromise<");
}

// The task of Task.WaitAsync, which ends with another task, or earlier if it is cancelled.
inline bool is_wait_async(const AsyncTask& task) {
  return task.kind == TaskKind::when_any && task.type.find("+CancellationPromise") != std::string::npos;
}

}  // namespace mixwalk
