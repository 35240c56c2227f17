#include "symbols/managed_lines.h"

#include "symbols/portable_pdb/assembly_mvid.h"

namespace mixwalk {

std::optional<ManagedPlace> ManagedLines::find(const Assembly& assembly, std::uint32_t method,
                                               std::uint32_t il_offset) {
  const auto [at, fresh] = opened_.try_emplace(assembly);
  if (fresh) at->second = open(assembly);
  return at->second ? at->second->find(method, il_offset) : std::nullopt;
}

std::unique_ptr<const PortablePdb> ManagedLines::open(const Assembly& assembly) {
  if (assembly.path.empty()) return nullptr;
  const auto bytes = files_.read(assembly.path);
  // A wrong line is worse than none: the file may have been replaced since it was loaded.
  if (!bytes || assembly_mvid(*bytes) != assembly.mvid) return nullptr;
  return pdbs_.open_portable(assembly.path, *bytes).pdb;
}

}  // namespace mixwalk
