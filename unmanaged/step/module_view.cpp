#include "unmanaged/step/module_view.h"

#include <algorithm>

namespace mixwalk {

const ModuleSpan* ModuleView::find(std::uint64_t address) const noexcept {
  auto after = std::upper_bound(
      modules_.begin(), modules_.end(), address,
      [](std::uint64_t value, const ModuleSpan& module) { return value < module.base; });
  if (after == modules_.begin()) return nullptr;
  const ModuleSpan& candidate = *(after - 1);
  return candidate.contains(address) ? &candidate : nullptr;
}

}  // namespace mixwalk
