#pragma once

#include <windows.h>

#include <optional>
#include <string>

#include "walker/clr/contracts/open_contracts.h"
#include "walker/clr/dac_search.h"
#include "walker/model/runtime_source.h"
#include "walker/target/target.h"

namespace mixwalk {

// The source that is read: a live process, or else a dump.
struct ClrSource {
  HANDLE process = nullptr;  // with the rights of LiveTarget::open()
  std::string dump_path;     // UTF-8; this process and the worker have the same current folder
  std::string symbol_path;   // SymbolPath's text: where the images of a dump may be
};

// The path of the debugging library that fits the target's runtime, or the reason why there is none. Returns nothing if
// the target has no runtime. `settings.installed` is filled in here. Not frozen-safe.
std::optional<Outcome<std::string>> dac_of(const Target& target, DacSettings settings);

// Opens the data contracts of the target's runtime. If they cannot be read, or `wanted` or settings.dac ask for the
// debugging library, finds the library that fits, and starts a worker with it (WorkerQuestions). `settings`: as in
// dac_of().
OpenedClr open_clr(const Target& target, const ClrSource& source, DacSettings settings, RuntimeSource wanted);

}  // namespace mixwalk
