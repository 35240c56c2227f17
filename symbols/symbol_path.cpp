#include "symbols/symbol_path.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

#include "symbols/image_files.h"
#include "unmanaged/ascii_lower.h"

namespace mixwalk {
namespace {

constexpr std::size_t kMaxName = 255;  // bytes; file systems have that limit

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\"");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\"") - first + 1);
}

// Whether this is a path that begins with two separators and has no drive behind them.
bool is_elsewhere(std::string_view path) {
  return path.size() >= 2 && is_separator(path[0]) && is_separator(path[1]) && !is_on_drive(path);
}

bool is_url(std::string_view part) { return part.find("://") != std::string_view::npos; }

// The end of the name of a variable with which the text begins; 0 if it begins with none. `more`: signs that a name may
// have.
std::size_t end_of_name(std::string_view text, std::string_view more) {
  const auto is_letter = [](char c) { return (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z') || c == '_'; };
  if (text.empty() || !is_letter(text[0])) return 0;
  const auto end = std::ranges::find_if(text, [&](char c) {
    return !is_letter(c) && (c < '0' || c > '9') && more.find(c) == more.npos;
  });
  return static_cast<std::size_t>(end - text.begin());
}

// Whether a path has a variable or a sign that a shell replaces: ~, %NAME%, $NAME, ${NAME}, $env:NAME. Nothing has
// replaced it: a shell replaces it only in some places, PowerShell does not know %NAME%, and a service or a file of
// variables has no shell. A folder of that name would be made somewhere, and be in everybody's way.
bool is_unreplaced(std::string_view path) {
  if (path == "~" || path.starts_with("~/") || path.starts_with("~\\")) return true;
  if (path.starts_with("${") || (path.starts_with('$') && end_of_name(path.substr(1), {}) != 0)) return true;
  for (std::size_t at = path.find('%'); at != path.npos; at = path.find('%', at + 1)) {
    const std::string_view rest = path.substr(at + 1);
    const std::size_t end = end_of_name(rest, "()");  // %ProgramFiles(x86)%
    constexpr std::size_t kShortest = 3;              // %c3%a4 is an escaped letter, as in paths of mounted shares
    if (end >= kShortest && end < rest.size() && rest[end] == '%') return true;
  }
  return false;
}

// The text without a name and a password, which messages must not show.
std::string without_password(std::string_view url) {
  if (!is_url(url)) return std::string(url);
  const std::size_t begin = url.find("://") + 3, end = url.rfind('@');
  if (end == url.npos || end < begin) return std::string(url);
  return std::string(url.substr(0, begin)) + "..." + std::string(url.substr(end));
}

// The URL of a server, without '/' at its end. Returns an empty text if files cannot be asked for below it.
std::string server_url(std::string_view part) {
  const std::size_t scheme = part.find("://");
  const std::string protocol = ascii_lower(part.substr(0, scheme));
  while (part.ends_with('/')) part.remove_suffix(1);
  if ((protocol != "http" && protocol != "https") || part.size() <= scheme + 3) return {};
  // A name and a password would be shown in messages and lists of processes.
  if (part.find_first_of("?#@\\\"<>") != std::string_view::npos) return {};
  if (std::any_of(part.begin(), part.end(), [](unsigned char c) { return c <= 0x20 || c >= 0x7F; })) return {};
  return protocol + std::string(part.substr(scheme));
}

// Reads the elements, from left to right.
class PathParser {
 public:
  PathParser(const std::string& default_store, bool shares) : default_store_(default_store), shares_(shares) {}

  void add(std::string_view element) {
    const std::vector<std::string_view> parts = split(trimmed(element), '*');
    const std::string kind = ascii_lower(trimmed(parts[0]));
    if (kind == "cache") {
      for (std::size_t i = 1; i < parts.size(); ++i) add_cache(trimmed(parts[i]));
    } else if (kind == "srv" || kind == "symsrv") {
      const std::size_t first = kind == "srv" ? 1 : 2;
      add_chain({parts.begin() + static_cast<std::ptrdiff_t>(std::min(first, parts.size())), parts.end()});
    } else if (is_url(trimmed(parts[0]))) {
      add_chain(parts);
    } else {
      for (const std::string_view part : parts) add_folder(trimmed(part), false);
    }
  }
  SymbolPath take() { return std::move(path_); }

 private:
  // Returns the folder, or an empty text if the part is none.
  std::string add_folder(std::string_view part, bool store) {
    if (part.empty()) return {};
    if (is_url(part)) {
      path_.left_out.push_back({without_password(part), "is no folder", "write srv*FOLDER*URL"});
    } else if (is_unreplaced(part)) {
      const bool is_home = part.starts_with('~');
      path_.left_out.push_back({std::string(part),
                                is_home ? "is no folder: nothing has replaced ~"
                                        : "is no folder: nothing has replaced the variable",
                                "write the whole path"});
    } else if (is_elsewhere(part) && !is_on_share(part)) {
      path_.left_out.push_back({std::string(part), "is no folder", "write a folder, or \\\\MACHINE\\SHARE"});
    } else if (is_elsewhere(part) && !shares_) {
      path_.left_out.push_back({std::string(part), "is on another machine",
                                "mount the share, and name the folder at which it is mounted"});
    } else {
      const SymbolPath::Folder folder{std::string(part), store};
      if (std::find(path_.folders.begin(), path_.folders.end(), folder) == path_.folders.end()) {
        path_.folders.push_back(folder);
      }
      return folder.path;
    }
    return {};
  }
  void add_cache(std::string_view part) {
    const std::string folder = add_folder(part.empty() ? default_store_ : part, true);
    if (!folder.empty() && !is_on_share(folder)) cache_ = folder;
  }
  // Adds the stores, and the server behind them.
  void add_chain(const std::vector<std::string_view>& parts) {
    std::vector<std::string> stores;
    if (!cache_.empty()) stores.push_back(cache_);
    std::string_view server;
    bool named = false;  // whether any part says something
    for (std::string_view part : parts) {
      part = trimmed(part);
      if (ascii_lower(part) == "srv") continue;  // srv*C:\a*srv*C:\b*URL, which some pages show
      named = named || !part.empty();
      if (!server.empty()) {
        if (!part.empty()) {
          path_.left_out.push_back({without_password(part), "follows a server", "write the server behind all stores"});
        }
      } else if (is_url(part)) {
        server = part;
      } else if (const std::string folder = add_folder(part.empty() ? default_store_ : part, true); !folder.empty()) {
        if (is_on_share(folder)) continue;
        if (std::find(stores.begin(), stores.end(), folder) == stores.end()) stores.push_back(folder);
      }
    }
    if (!named && !parts.empty()) server = kMicrosoftServer;
    if (!server.empty()) add_server(server, std::move(stores));
  }
  void add_server(std::string_view part, std::vector<std::string> stores) {
    SymbolPath::Server server{server_url(part), std::move(stores)};
    if (server.url.empty()) {
      path_.left_out.push_back({without_password(part), "is no URL of a symbol server",
                                "write https://HOST/PATH, without a password and a query"});
      return;
    }
    if (server.stores.empty()) {
      const std::string folder = add_folder(default_store_, true);
      if (folder.empty()) {
        path_.left_out.push_back({std::string(part), "has no store for its files", "write srv*FOLDER*URL"});
        return;
      }
      server.stores.push_back(folder);
    }
    const auto same = [&](const SymbolPath::Server& other) { return other.url == server.url; };
    if (std::none_of(path_.servers.begin(), path_.servers.end(), same)) path_.servers.push_back(std::move(server));
  }

  const std::string default_store_;
  const bool shares_;
  std::string cache_;  // of the last cache* on the left
  SymbolPath path_;
};

// Paths in the order of the search, each once.
struct Candidates {
  std::vector<std::string> all;
  std::set<std::string> known = {};

  void add(std::string path) {
    if (known.insert(path).second) all.push_back(std::move(path));
  }
  // Adds a file in the folders themselves, and in stores under `store_id`; if that is empty, not in stores.
  void add_folders(std::string_view name, std::string_view store_id, const SymbolPath& path) {
    for (const SymbolPath::Folder& folder : path.folders) {
      if (!folder.store) add_both(folder.path, false, name, {});
      if (store_id.empty()) continue;
      // A name like "..x" would lead out of the store.
      if (folder.two_tier && !name.starts_with("..")) add_both(folder.path, true, name, store_id);
      add_both(folder.path, false, name, store_id);
    }
  }

 private:
  // Adds both spellings for file systems that distinguish upper and lower case: some tools write a store in lower case,
  // and a recording may say KERNEL32.DLL for kernel32.dll.
  void add_both(const std::string& folder, bool two_tier, std::string_view name, std::string_view id) {
    const auto path_of = [&](std::string_view file, std::string_view of_store) {
      const std::string plain = join_path(two_tier ? join_path(folder, file.substr(0, 2)) : folder, file);
      return of_store.empty() ? plain : join_path(join_path(plain, of_store), file);
    };
    const std::string path = path_of(name, id);
    add(path);
    if (path.find('\\') == std::string::npos) {
      add(path_of(ascii_lower(std::string(name)), ascii_lower(std::string(id))));
    }
  }
};

}  // namespace

SymbolPath parse_symbol_path(std::string_view text, const std::string& default_store, bool shares) {
  PathParser parser(default_store, shares);
  for (const std::string_view element : split(text, ';')) parser.add(element);
  return parser.take();
}

SymbolPath parse_symbol_path(std::string_view text, const std::string& default_store, SymbolAsking asking,
                             bool shares) {
  SymbolPath path = parse_symbol_path(text, default_store, shares);
  if (asking == SymbolAsking::offline) path.servers.clear();
  if (asking == SymbolAsking::online && path.servers.empty()) {
    return parse_symbol_path(std::string(text) + ";srv*" + std::string(kMicrosoftServer), default_store, shares);
  }
  return path;
}

void find_tiers(SymbolPath& path, ImageFiles& files) {
  for (SymbolPath::Folder& folder : path.folders) {
    folder.two_tier = files.read(join_path(folder.path, "index2.txt")).has_value();
  }
}

std::vector<std::string> store_paths(const SymbolPath::Folder& folder, std::string_view name, std::string_view id) {
  SymbolPath path;
  path.folders.push_back(folder);
  path.folders.back().store = true;
  Candidates candidates;
  candidates.add_folders(name, id, path);
  return std::move(candidates.all);
}

std::string folders_text(const SymbolPath& path) {
  std::string text;
  for (const SymbolPath::Folder& folder : path.folders) {
    text += (text.empty() ? "" : ";") + std::string(folder.store ? "srv*" : "") + folder.path;
  }
  return text;
}

bool is_store_id(std::string_view id) noexcept {
  constexpr std::size_t kMaxId = 64;
  return !id.empty() && id.size() <= kMaxId && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= '0' && c <= '9') || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'f');
  });
}

bool is_file_name(std::string_view name) noexcept {
  if (name.empty() || name.size() > kMaxName || name.back() == '.' || name.back() == ' ') return false;
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < 0x20) return false;
    if (std::string_view("<>:\"/\\|?*").find(c) != std::string_view::npos) return false;
  }
  // Windows opens a device by its name in any folder, whatever follows the first dot.
  std::string_view stem = name.substr(0, name.find('.'));
  while (stem.ends_with(' ')) stem.remove_suffix(1);
  const auto is = [&](std::string_view device) {
    return std::equal(stem.begin(), stem.end(), device.begin(), device.end(),
                      [](char left, char right) { return ascii_lower(left) == right; });
  };
  if (is("con") || is("prn") || is("aux") || is("nul") || is("conin$") || is("conout$")) return false;
  const std::string_view port = stem.substr(0, 3);
  const bool is_port = stem.size() >= 4 && (ascii_lower(std::string(port)) == "com" ||
                                            ascii_lower(std::string(port)) == "lpt");
  // COM1 to COM9, and the superscript digits that Windows also accepts. Each of these digits has two bytes in UTF-8.
  return !(is_port && ((stem.size() == 4 && stem[3] >= '0' && stem[3] <= '9') ||
                       (stem.size() == 5 && stem[3] == '\xC2')));
}

std::vector<std::string> pdb_candidates(std::string_view image_path, const CodeViewId& id,
                                        const SymbolPath& path) {
  const std::string_view name = file_name(id.path);
  if (!is_file_name(name)) return {};
  Candidates candidates;
  const std::string_view image_name = file_name(image_path);
  if (image_name.size() < image_path.size()) {
    candidates.add(std::string(image_path.substr(0, image_path.size() - image_name.size())) + std::string(name));
  }
  if (name.size() < id.path.size()) candidates.add(id.path);
  candidates.add_folders(name, symbol_store_id(id), path);
  return std::move(candidates.all);
}

std::string image_store_id(std::uint32_t timestamp, std::uint32_t size_of_image) {
  std::array<char, 8 + 8 + 1> text;
  const int length = std::snprintf(text.data(), text.size(), "%08X%x", static_cast<unsigned>(timestamp),
                                   static_cast<unsigned>(size_of_image));
  return {text.data(), static_cast<std::size_t>(length)};
}

std::vector<std::string> image_candidates(std::string_view image_path, std::uint32_t timestamp,
                                          std::uint32_t size_of_image, const SymbolPath& path) {
  Candidates candidates;
  if (!image_path.empty()) candidates.add(std::string(image_path));
  const std::string_view name = file_name(image_path);
  if (is_file_name(name)) candidates.add_folders(name, image_store_id(timestamp, size_of_image), path);
  return std::move(candidates.all);
}

std::vector<std::string> assembly_candidates(std::string_view assembly_path, const SymbolPath& path) {
  Candidates candidates;
  if (!assembly_path.empty()) candidates.add(std::string(assembly_path));
  const std::string_view name = file_name(assembly_path);
  if (is_file_name(name)) candidates.add_folders(name, {}, path);
  return std::move(candidates.all);
}

std::vector<std::string> folders_of(const SymbolPath& path) {
  std::vector<std::string> folders;
  for (const SymbolPath::Folder& folder : path.folders) folders.push_back(folder.path);
  return folders;
}

std::vector<std::string> image_candidates_in_folders(std::string_view image_path, std::uint32_t timestamp,
                                                     std::uint32_t size_of_image, const SymbolPath& path) {
  Candidates candidates;
  const std::string_view name = file_name(image_path);
  if (is_file_name(name)) candidates.add_folders(name, image_store_id(timestamp, size_of_image), path);
  return std::move(candidates.all);
}

std::string symchk_manifest(std::vector<MissingPdb> missing) {
  std::sort(missing.begin(), missing.end());
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
  std::string text;
  for (const MissingPdb& one : missing) text += one.name + ',' + one.id + ",1\n";
  return text;
}

}  // namespace mixwalk
