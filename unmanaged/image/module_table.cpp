#include "unmanaged/image/module_table.h"

#include <algorithm>
#include <utility>

namespace mixwalk {

ModuleTable::ModuleTable(std::vector<Entry> entries) {
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& left, const Entry& right) {
    return left.span.base < right.span.base;
  });
  spans_.reserve(entries.size());
  details_.reserve(entries.size());
  for (Entry& entry : entries) {
    if (entry.span.size == 0) continue;
    if (!spans_.empty() && entry.span.base - spans_.back().base < spans_.back().size) continue;
    spans_.push_back(entry.span);
    details_.push_back(std::move(entry.details));
  }
}

}  // namespace mixwalk
