#pragma once

#include <windows.h>

#include <optional>
#include <string>
#include <vector>

namespace mixwalk {

// The hidden command by which mixwalk.exe starts itself as the worker: "--clr-worker PIPE", an inherited handle in
// hexadecimal.
inline constexpr const char* kClrWorkerCommand = "--clr-worker";

// Runs that command, if these arguments (without the program) are it, and returns its exit code. The worker loads the
// runtime's debugging library and answers the questions that come through the pipe, until the pipe is closed. The
// library may hang or crash in the worker; if so, WorkerQuestions ends the worker.
std::optional<int> run_clr_worker(const std::vector<std::string>& arguments);

}  // namespace mixwalk
