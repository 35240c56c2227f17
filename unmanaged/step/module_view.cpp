#include "unmanaged/step/module_view.h"

#include <algorithm>

namespace mixwalk {

CodeRange ModuleSpan::code_around(std::uint64_t address) const noexcept {
  if (!contains(address)) return {};
  if (code.front().end == 0) return {0, size};
  const auto rva = static_cast<std::uint32_t>(address - base);
  for (const CodeRange& range : code) {
    if (rva >= range.begin && rva < range.end) return range;
  }
  return {};
}

void ModuleSpan::add_code(CodeRange range) noexcept {
  if (range.begin >= range.end) return;
  for (CodeRange& place : code) {
    if (place.end == 0) {
      place = range;
      return;
    }
  }
  CodeRange& last = code.back();
  last = {std::min(last.begin, range.begin), std::max(last.end, range.end)};
}

bool ModuleSpan::add_shut(CodeRange range) noexcept {
  for (CodeRange& place : shut) {
    if (place.end == 0) {
      place = range;
      return true;
    }
  }
  return false;
}

bool ModuleSpan::may_read(std::uint64_t address, std::size_t bytes) const noexcept {
  if (closed) return false;
  if (shut.front().end == 0) return true;
  const std::uint64_t begin = address - base;
  return std::ranges::none_of(shut, [&](const CodeRange& range) {
    return begin < range.end && begin + bytes > range.begin;
  });
}

const ModuleSpan* ModuleView::find(std::uint64_t address) const noexcept {
  auto after = std::upper_bound(
      modules_.begin(), modules_.end(), address,
      [](std::uint64_t value, const ModuleSpan& module) { return value < module.base; });
  if (after == modules_.begin()) return nullptr;
  const ModuleSpan& candidate = *(after - 1);
  return candidate.contains(address) ? &candidate : nullptr;
}

}  // namespace mixwalk
