#include "symbols/managed_lines.h"

#include <cstdint>
#include <vector>

#include "symbols/portable_pdb/assembly_mvid.h"

namespace mixwalk {
namespace {

// A file of at least so many bytes is not read as a whole: reading it costs more than opening it a few times.
constexpr std::size_t kSmallFile = 1u << 20;

}  // namespace

std::optional<ManagedPlace> ManagedLines::find(const Assembly& assembly, std::uint32_t method,
                                               std::uint32_t il_offset) {
  Opened& of = opened(assembly);
  if (of.pdb == nullptr) return std::nullopt;
  const std::pair place(method, il_offset);
  auto known = of.places.find(place);
  if (known == of.places.end()) known = of.places.emplace(place, of.pdb->find(method, il_offset)).first;
  return known->second;
}

ManagedLines::Opened& ManagedLines::opened(const Assembly& assembly) {
  // The file of the build says which PDB is its own. The id that the caller knows counts only if there is no such file.
  Opened& by_file = opened(Key{assembly.path, assembly.mvid}, [&] { return open_by_file(assembly); });
  if (by_file.has_file || !assembly.pdb || !assembly.pdb->portable) return by_file;
  return opened(Key{assembly.path, assembly.mvid, assembly.pdb, assembly.pdb_checksums}, [&] {
    return Opened{.pdb = pdbs_.open_portable(assembly.path, *assembly.pdb, assembly.pdb_checksums).pdb,
                  .id = assembly.pdb};
  });
}

template <class Open>
ManagedLines::Opened& ManagedLines::opened(const Key& key, Open open) {
  Opened& known = opened_.get(key, open);
  constexpr std::size_t kPlaceBytes = 256;  // for an average path and a node
  opened_.needs(known.pdb ? known.pdb->bytes() + known.places.size() * kPlaceBytes : 0);
  return known;
}

ManagedLines::Opened ManagedLines::open_by_file(const Assembly& assembly) {
  for (const std::string& path : assembly_candidates(assembly.path, path_)) {
    // The assembly's own path was not chosen by the user, but the folders were.
    ImageFiles& files = path == assembly.path ? files_ : path_files_;
    const ReadFilePart read = [&](std::uint64_t offset, std::size_t bytes) {
      return files.read_part(path, offset, bytes);
    };
    std::vector<std::byte> bytes = read(0, kSmallFile);
    const bool whole = bytes.size() < kSmallFile;
    // The file may have been replaced since it was loaded, and a wrong line is worse than none.
    if ((whole ? assembly_mvid(bytes) : assembly_mvid(read)) != assembly.mvid) continue;
    if (!whole) {
      const auto id = read_image_file_id(read);
      if (id && id->portable && !id->has_pdb_inside) {
        return {true, pdbs_.open_portable(path, *id->portable, id->checksums).pdb, id->portable};
      }
      bytes = files.read(path).value_or(std::vector<std::byte>());
    }
    return {true, pdbs_.open_portable(path, bytes).pdb, code_view_id(debug_directory(bytes), true)};
  }
  return {};
}

}  // namespace mixwalk
