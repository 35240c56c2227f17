#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "symbols/assembly.h"
#include "symbols/image_files.h"
#include "symbols/open_cache.h"
#include "symbols/pdb/pdb_finder.h"

namespace mixwalk {

// Finds the lines of managed code, from the portable PDBs of assemblies. Each PDB is opened when one of its methods is
// first looked up. Not frozen-safe; one thread at a time.
class ManagedLines {
 public:
  // The memory limit for all PDBs, as for Symboliser::kMaxBytes.
  static constexpr std::size_t kMaxBytes = 256u * 1024 * 1024;

  // As in PdbFinder: `files` reads the paths that the target names for its assemblies; `path_files` reads assemblies
  // and PDBs in the folders of `path`; `servers` loads PDBs that are not there.
  ManagedLines(ImageFiles& files, ImageFiles& path_files, SymbolPath path, StoreFetch* servers = nullptr,
               std::size_t max_bytes = kMaxBytes)
      : files_(files),
        path_files_(path_files),
        pdbs_(files, path_files, path, servers),
        path_(std::move(path)),
        opened_(max_bytes) {}

  // Returns the place of an IL offset of a method (MethodDef token). Returns nothing if the method has no line there,
  // if there is no PDB, or if another build of the assembly is at its path now.
  std::optional<ManagedPlace> find(const Assembly& assembly, std::uint32_t method, std::uint32_t il_offset);

  // The same for an await of an async method, by its number (PortablePdb::find_await).
  std::optional<ManagedPlace> find_await(const Assembly& assembly, std::uint32_t method, std::uint32_t number) {
    const Opened& of = opened(assembly);
    return of.pdb != nullptr ? of.pdb->find_await(method, number) : std::nullopt;
  }

  // Returns the id of the assembly's PDB, as its file says. If the file is not there, returns the id that the caller
  // knows. Returns nothing if there is neither.
  std::optional<CodeViewId> pdb_of(const Assembly& assembly) { return opened(assembly).id; }

  // The PDBs that were not found, for the assemblies that were asked for.
  const std::vector<MissingPdb>& missing() const noexcept { return pdbs_.missing(); }
  // Like PdbFinder::problems().
  const std::vector<std::string>& problems() const noexcept { return pdbs_.problems(); }

 private:
  struct Key {
    std::string path;
    std::array<std::byte, 16> mvid;
    std::optional<CodeViewId> pdb = std::nullopt;  // set if the assembly's file is missing, and its PDB is known
    std::vector<PdbChecksum> pdb_checksums = {};
    auto operator<=>(const Key&) const = default;
  };
  struct Opened {
    bool has_file = false;  // whether the file of the assembly's build was found
    std::unique_ptr<const PortablePdb> pdb = nullptr;  // null if there is none
    std::optional<CodeViewId> id = std::nullopt;
    // By method and offset. The frames of a recursion are at few places, and each look-up reads all lines of the method
    // up to its own.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::optional<ManagedPlace>> places = {};
  };
  Opened& opened(const Assembly& assembly);
  template <class Open>
  Opened& opened(const Key& key, Open open);
  Opened open_by_file(const Assembly& assembly);

  ImageFiles& files_;
  ImageFiles& path_files_;
  PdbFinder pdbs_;
  SymbolPath path_;
  OpenCache<Key, Opened> opened_;
};

}  // namespace mixwalk
