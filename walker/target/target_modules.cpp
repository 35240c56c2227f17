#include "walker/target/target_modules.h"

#include <algorithm>
#include <utility>

#include "unmanaged/image/image_headers.h"
#include "unmanaged/image/loaded_module.h"

namespace mixwalk {

ModuleTable target_modules(const Target& target) {
  const MemoryReader& memory = target.memory();
  std::vector<ModuleTable::Entry> entries;
  entries.reserve(target.modules().size());
  for (const Module& module : target.modules()) {
    ModuleTable::Entry entry;
    entry.span.closed = true;
    if (const auto headers = ImageHeaders::read(memory, module.base)) {
      entry = loaded_module(*headers);
      entry.span.size = module.size;
      add_code(entry, *headers, memory);
    }
    entry.span.base = module.base;
    entry.span.size = module.size;
    entry.details.timestamp = module.timestamp;
    set_path(entry, module.path, memory);
    entries.push_back(std::move(entry));
  }
  return ModuleTable(std::move(entries));
}

}  // namespace mixwalk
