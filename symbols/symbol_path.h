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

// The paths at which an image's own file may lie in the folders, in the order of search: by its name, and as a
// symbol store has images (name/TIMESTAMPsize/name); in folders of Unix also in small letters. None where the path
// that the process loaded it from ends in no file's name.
std::vector<std::string> image_candidates(std::string_view image_path, std::uint32_t timestamp,
                                          std::uint32_t size_of_image, const SymbolPath& path);

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
