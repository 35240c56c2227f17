#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "unmanaged/step/module_view.h"

namespace mixwalk {

// The path of an image, and the values that tell it from other images.
struct ModuleDetails {
  std::string path;             // UTF-8, as the loader knows it
  std::uint32_t timestamp = 0;  // IMAGE_FILE_HEADER.TimeDateStamp
  std::uint64_t identity = 0;   // of the image's headers, see live_modules.h

  bool operator==(const ModuleDetails&) const = default;
};

// Owns the spans that a ModuleView refers to. Building it is not frozen-safe; it is immutable from then on.
class ModuleTable {
 public:
  struct Entry {
    ModuleSpan span;
    ModuleDetails details;
  };

  ModuleTable() = default;
  // The entries may be in any order. If entries overlap (because one image was unloaded and another one loaded during
  // the listing), the first is kept.
  explicit ModuleTable(std::vector<Entry> entries);

  ModuleView view() const noexcept { return ModuleView(spans_); }
  // In the order of view().modules().
  std::span<const ModuleDetails> details() const noexcept { return details_; }

  bool operator==(const ModuleTable&) const = default;

 private:
  std::vector<ModuleSpan> spans_;
  std::vector<ModuleDetails> details_;
};

}  // namespace mixwalk
