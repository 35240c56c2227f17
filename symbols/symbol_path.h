#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/image_files.h"
#include "symbols/shares.h"
#include "unmanaged/image/debug_directory.h"

namespace mixwalk {

// Where symbol files are looked for: folders of this machine, and symbol servers. Parsed from the form that people
// write for debuggers: --symbol-path, _NT_SYMBOL_PATH. Pure.
struct SymbolPath {
  struct Folder {
    std::string path;
    bool store = false;     // files lie only as name/GUIDage/name; if false, also directly in the folder
    bool two_tier = false;  // the store has index2.txt: files lie as na/name/GUIDage/name (find_tiers())
    bool operator==(const Folder&) const = default;
  };
  // A server that is asked for a file that is in none of the folders.
  struct Server {
    std::string url;                  // http:// or https://, without '/' at its end
    std::vector<std::string> stores;  // stores of this machine that get what is loaded; at least one
    bool operator==(const Server&) const = default;
  };
  // A part of the text that is not used.
  struct LeftOut {
    std::string part;
    std::string_view why;     // "is on another machine"
    std::string_view advice;  // what to write instead
  };
  std::vector<Folder> folders;    // in the order of search
  std::vector<Server> servers;    // in the order in which they are asked
  std::vector<LeftOut> left_out;
};

// Microsoft's symbol server.
inline constexpr std::string_view kMicrosoftServer = "https://msdl.microsoft.com/download/symbols";

// Parses elements separated by ';': a folder, a URL, or one of srv*STORE*…, symsrv*DLL*STORE*… and cache*STORE. In an
// element, the stores are those that get what the URL at its end gives. A store of cache* gets what the elements on its
// right give. An empty part is the default store; srv* alone is the default store and Microsoft's server. If
// `default_store` is empty, an empty part is ignored. If `shares` is true, shares of other machines (\\server\share)
// are folders that are read, since the user has named them. mixwalk puts nothing there: what a server gives goes to the
// stores of this machine. All other paths that begin like a share are left out.
// (https://learn.microsoft.com/windows-hardware/drivers/debugger/advanced-symsrv-use)
SymbolPath parse_symbol_path(std::string_view text, const std::string& default_store = {},
                             bool shares = kOpensShares);

// Whether servers are asked.
enum class SymbolAsking {
  by_path,  // those that the path names
  online,   // these, or Microsoft's if the path names none
  offline,  // none
};
// Like parse_symbol_path(), with only the servers that are asked.
SymbolPath parse_symbol_path(std::string_view text, const std::string& default_store, SymbolAsking asking,
                             bool shares = kOpensShares);

// Finds out which of the folders are stores of two tiers.
void find_tiers(SymbolPath& path, ImageFiles& files);

// The folders of a path, in the form that parse_symbol_path() reads.
std::string folders_text(const SymbolPath& path);

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

// The paths in a folder under which a file of a symbol store may be: in two tiers too, if the folder has them.
std::vector<std::string> store_paths(const SymbolPath::Folder& folder, std::string_view name, std::string_view id);

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

// Whether a text can be a file's id in a symbol store: it has hexadecimal digits only.
bool is_store_id(std::string_view id) noexcept;

// Whether a name can be that of a file in a folder: it contains no folder, is not a device of Windows (CON, COM1.pdb),
// and has no character or ending that Windows does not allow.
bool is_file_name(std::string_view name) noexcept;

}  // namespace mixwalk
