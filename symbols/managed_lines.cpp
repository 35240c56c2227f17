#include "symbols/managed_lines.h"

#include "symbols/portable_pdb/assembly_mvid.h"

namespace mixwalk {

std::optional<ManagedPlace> ManagedLines::find(const Assembly& assembly, std::uint32_t method,
                                               std::uint32_t il_offset) {
  const Opened& known = opened(assembly);
  return known.pdb ? known.pdb->find(method, il_offset) : std::nullopt;
}

ManagedLines::Opened& ManagedLines::opened(const Assembly& assembly) {
  Opened& known = opened_.get(assembly, [&] { return open(assembly); });
  opened_.needs(known.pdb ? known.pdb->bytes() : 0);
  return known;
}

ManagedLines::Opened ManagedLines::open(const Assembly& assembly) {
  for (const std::string& path : assembly_candidates(assembly.path, path_)) {
    const auto bytes = files_.read(path);
    // A wrong line is worse than none: the file may have been replaced since it was loaded.
    if (!bytes || assembly_mvid(*bytes) != assembly.mvid) continue;
    return {pdbs_.open_portable(path, *bytes).pdb, code_view_id(debug_directory(*bytes), true)};
  }
  if (!assembly.pdb || !assembly.pdb->portable) return {};
  return {pdbs_.open_portable(assembly.path, *assembly.pdb).pdb, assembly.pdb};
}

}  // namespace mixwalk
