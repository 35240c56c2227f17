#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "unmanaged/image/debug_directory.h"

namespace mixwalk {

// The folders in which PDBs are looked for, from the form that people write for debuggers: --symbol-path,
// _NT_SYMBOL_PATH. Pure.
struct SymbolPath {
  struct Folder {
    std::string path;
    bool store = false;  // files lie only as name/GUIDage/name; if false, also directly in the folder
    bool operator==(const Folder&) const = default;
  };
  std::vector<Folder> folders;        // in the order of search
  std::vector<std::string> left_out;  // parts that lead to other machines; these machines are not asked
};

// Parses elements separated by ';': a folder, or one of srv*FOLDER*…, symsrv*DLL*FOLDER*… and cache*FOLDER. A folder
// after a '*' is a symbol store. URLs and paths of other machines (\\server\share) are left out, because opening them
// may send the user's credentials there (see LocalImageFiles), and mixwalk never looks for symbols over the network. An
// empty part means a debugger's default store; such a part is ignored.
// (https://learn.microsoft.com/windows-hardware/drivers/debugger/advanced-symsrv-use)
SymbolPath parse_symbol_path(std::string_view text);

// Returns the paths at which an image's PDB may lie, in the order of the search: beside the image, at the path that the
// image names, in the folders; in Unix folders also in lower case. An image may name any path, so such a path is read
// through LocalImageFiles. There are no candidates if the PDB's name is not a file name.
std::vector<std::string> pdb_candidates(std::string_view image_path, const CodeViewId& id,
                                        const SymbolPath& path);

// Returns the paths at which the file of an image may lie: the path from which it was loaded, then the folders, as for
// PDBs; in a symbol store by its timestamp and SizeOfImage. There are none if the path is empty or ends with a
// separator.
std::vector<std::string> image_candidates(std::string_view image_path, std::uint32_t timestamp,
                                          std::uint32_t size_of_image, const SymbolPath& path);
// Returns the candidates in the folders alone, without the path from which the image was loaded; the target chose that
// path.
std::vector<std::string> image_candidates_in_folders(std::string_view image_path, std::uint32_t timestamp,
                                                     std::uint32_t size_of_image, const SymbolPath& path);
// Returns the candidates for a managed assembly. An assembly has no place of its own in a symbol store.
std::vector<std::string> assembly_candidates(std::string_view assembly_path, const SymbolPath& path);

// Returns the id of an image in a symbol store: its timestamp in eight upper-case hexadecimal digits, directly followed
// by SizeOfImage in lower-case ones.
std::string image_store_id(std::uint32_t timestamp, std::uint32_t size_of_image);

// The folders of a path, for LocalImageFiles.
std::vector<std::string> folders_of(const SymbolPath& path);

// A PDB that was not found.
struct MissingPdb {
  std::string name;
  std::string id;  // symbol_store_id()
  auto operator<=>(const MissingPdb&) const = default;
};

// Returns "name,GUIDage,1" for each PDB, sorted, each once: a manifest of SymChk (symchk /im FILE /s srv*FOLDER*URL).
std::string symchk_manifest(std::vector<MissingPdb> missing);

// Whether a name can be that of a file in a folder: it contains no folder, is not a device of Windows (CON, COM1.pdb),
// and has no character or ending that Windows does not allow.
bool is_file_name(std::string_view name) noexcept;

}  // namespace mixwalk
