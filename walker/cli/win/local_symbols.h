#pragma once

#include <optional>
#include <string>

#include "symbols/image_files.h"
#include "symbols/managed_lines.h"
#include "symbols/native_source.h"
#include "symbols/symboliser.h"

namespace mixwalk {

// The symbols of this machine: of images, assemblies, PDBs and debug files on its drives.
class LocalSymbols {
 public:
  // `symbol_path`: as --symbol-path has it; none: the environment variable _NT_SYMBOL_PATH.
  explicit LocalSymbols(const std::optional<std::string>& symbol_path);

  Symboliser& symboliser() noexcept { return symboliser_; }
  ManagedLines& lines() noexcept { return lines_; }
  // Says in the log which PDBs were not found.
  void log_missing() const;

 private:
  DiskImageFiles disk_;
  LocalImageFiles files_{disk_};
  NativeSources sources_;
  Symboliser symboliser_;
  ManagedLines lines_;
};

}  // namespace mixwalk
