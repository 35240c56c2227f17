#include "symbols/managed_lines.h"

#include "symbols/portable_pdb/assembly_mvid.h"

namespace mixwalk {

std::optional<ManagedPlace> ManagedLines::find(const Assembly& assembly, std::uint32_t method,
                                               std::uint32_t il_offset) {
  auto at = opened_.find(assembly);
  if (at == opened_.end()) at = opened_.emplace(assembly, Opened{open(assembly), {}}).first;
  Opened& opened = at->second;
  if (opened.pdb == nullptr) return std::nullopt;
  const std::pair place(method, il_offset);
  auto known = opened.places.find(place);
  if (known == opened.places.end()) {
    known = opened.places.emplace(place, opened.pdb->find(method, il_offset)).first;
  }
  return known->second;
}

std::unique_ptr<const PortablePdb> ManagedLines::open(const Assembly& assembly) {
  if (assembly.path.empty()) return nullptr;
  const auto bytes = files_.read(assembly.path);
  // A wrong line is worse than none: the file may have been replaced since it was loaded.
  if (!bytes || assembly_mvid(*bytes) != assembly.mvid) return nullptr;
  return pdbs_.open_portable(assembly.path, *bytes).pdb;
}

}  // namespace mixwalk
