#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "unmanaged/image/debug_directory.h"

namespace mixwalk {

// Where PDBs are looked for, as people write it for debuggers: --symbol-path, _NT_SYMBOL_PATH. Pure.
struct SymbolPath {
  struct Folder {
    std::string path;
    bool store = false;  // files lie only as name/GUIDage/name; otherwise also directly in the folder
    bool operator==(const Folder&) const = default;
  };
  std::vector<Folder> folders;        // in the order of search
  std::vector<std::string> left_out;  // parts that lead to other machines: nothing is asked there
};

// Elements between ';': a folder; srv*FOLDER*…, symsrv*DLL*FOLDER*… and cache*FOLDER, whose folders are
// symbol stores. URLs and paths of other machines (\\server\share) are left out: they may send the user's
// credentials there (see LocalImageFiles), and mixwalk asks no network for symbols. Empty parts mean a
// debugger's default store: they are nothing.
// (https://learn.microsoft.com/windows-hardware/drivers/debugger/advanced-symsrv-use)
SymbolPath parse_symbol_path(std::string_view text);

// The paths at which an image's PDB may lie, in the order of search: beside the image, where the image says
// that it was written, in the folders; in folders of Unix also in small letters. A path that an image
// names may be any, and is read through LocalImageFiles. None where the PDB's name is no file's.
std::vector<std::string> pdb_candidates(std::string_view image_path, const CodeViewId& id,
                                        const SymbolPath& path);

// The paths at which the file of an image may lie: where it was loaded from, then in the folders, as PDBs; in a
// store by its timestamp and SizeOfImage. None where the path is empty or ends with a separator.
std::vector<std::string> image_candidates(std::string_view image_path, std::uint32_t timestamp,
                                          std::uint32_t size_of_image, const SymbolPath& path);
// The same without the path where it was loaded from, which the target says: the folders alone.
std::vector<std::string> image_candidates_in_folders(std::string_view image_path, std::uint32_t timestamp,
                                                     std::uint32_t size_of_image, const SymbolPath& path);
// The same of a managed assembly, which has no place of its own in a store.
std::vector<std::string> assembly_candidates(std::string_view assembly_path, const SymbolPath& path);

// What symbol stores call an image: its timestamp in eight upper-case hexadecimal digits, and right behind them
// SizeOfImage in lower-case ones.
std::string image_store_id(std::uint32_t timestamp, std::uint32_t size_of_image);

// The folders of a path, for LocalImageFiles.
std::vector<std::string> folders_of(const SymbolPath& path);

// A PDB that was not found.
struct MissingPdb {
  std::string name;
  std::string id;  // symbol_store_id()
  auto operator<=>(const MissingPdb&) const = default;
};

// "name,GUIDage,1" for each, sorted, each once: a manifest of SymChk (symchk /im FILE /s srv*FOLDER*URL).
std::string symchk_manifest(std::vector<MissingPdb> missing);

// Whether a name can be that of a file in a folder: no folder, no device of Windows (CON, COM1.pdb), nothing
// that only looks like a name.
bool is_file_name(std::string_view name) noexcept;

}  // namespace mixwalk
