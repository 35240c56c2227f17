#pragma once

#include <windows.h>

#include <memory>
#include <optional>
#include <string>

#include "walker/clr/clr_questions.h"
#include "walker/clr/dac_search.h"
#include "walker/clr/win/worker_questions.h"
#include "walker/target/target.h"

namespace mixwalk {

// The source that is read: a live process, or else a dump.
struct ClrSource {
  HANDLE process = nullptr;  // with the rights of LiveTarget::open()
  std::string dump_path;     // UTF-8; this process and the worker have the same current folder
  std::string symbol_path;   // SymbolPath's text: where the images of a dump may be
};

// The runtime of a target, ready to be asked.
struct TargetClr {
  // Null if there is no runtime, or no library that could be asked about it.
  std::unique_ptr<WorkerQuestions> questions;
  std::string obstacle;  // why questions is null, one line; empty if the target has no runtime
};

// The path of the debugging library that fits the target's runtime, or the reason why there is none. Returns nothing if
// the target has no runtime. `settings.installed` is filled in here. Not frozen-safe.
std::optional<Outcome<std::string>> dac_of(const Target& target, DacSettings settings);

// Finds the runtime among the target's images and the debugging library that fits it, and starts a worker with that
// library (WorkerQuestions). `settings`: as in dac_of().
TargetClr open_clr(const Target& target, const ClrSource& source, DacSettings settings);

}  // namespace mixwalk
