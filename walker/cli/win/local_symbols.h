#pragma once

#include <optional>
#include <string>

#include "symbols/image_files.h"
#include "symbols/native_source.h"
#include "symbols/symboliser.h"

namespace mixwalk {

// The native symbols of this machine: of images, PDBs and debug files on its drives.
class LocalSymbols {
 public:
  // `symbol_path`: as --symbol-path has it; none: the environment variable _NT_SYMBOL_PATH.
  explicit LocalSymbols(const std::optional<std::string>& symbol_path);

  Symboliser& symboliser() noexcept { return symboliser_; }
  // Says in the log which PDBs were not found.
  void log_missing() const;

 private:
  DiskImageFiles disk_;
  LocalImageFiles files_{disk_};
  NativeSources sources_;
  Symboliser symboliser_;
};

}  // namespace mixwalk
