#include "symbols/symbol_path.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "symbols/image_files.h"
#include "unmanaged/image/ascii_lower.h"

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

bool is_separator(char c) { return c == '\\' || c == '/'; }

// A URL, or a path that begins with two separators and no drive behind them.
bool is_elsewhere(std::string_view path) {
  if (path.find("://") != std::string_view::npos) return true;
  return path.size() >= 2 && is_separator(path[0]) && is_separator(path[1]) && !is_on_drive(path);
}

void add_folder(std::string_view part, bool store, SymbolPath& path) {
  part = trimmed(part);
  if (part.empty()) return;
  if (is_elsewhere(part)) {
    path.left_out.emplace_back(part);
  } else {
    path.folders.push_back({std::string(part), store});
  }
}

std::string join(std::string_view folder, std::string_view name) {
  std::string path(folder);
  const bool of_windows = is_on_drive(folder) || folder.find('\\') != std::string_view::npos;
  if (path.empty() || !is_separator(path.back())) path += of_windows ? '\\' : '/';
  return path += name;
}

}  // namespace

SymbolPath parse_symbol_path(std::string_view text) {
  SymbolPath path;
  for (const std::string_view element : split(text, ';')) {
    const std::vector<std::string_view> parts = split(trimmed(element), '*');
    const std::string kind = ascii_lower(trimmed(parts[0]));
    const std::size_t first = kind == "srv" || kind == "cache" ? 1 : kind == "symsrv" ? 2 : 0;
    for (std::size_t i = first; i < parts.size(); ++i) add_folder(parts[i], first != 0, path);
  }
  return path;
}

bool is_file_name(std::string_view name) noexcept {
  if (name.empty() || name.size() > kMaxName || name.back() == '.' || name.back() == ' ') return false;
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < 0x20) return false;
    if (std::string_view("<>:\"/\\|?*").find(c) != std::string_view::npos) return false;
  }
  // Windows opens a device by its name in any folder, whatever stands behind the first dot.
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
  // COM1 to COM9, and the raised digits that Windows takes for digits: two bytes in UTF-8.
  return !(is_port && ((stem.size() == 4 && stem[3] >= '0' && stem[3] <= '9') ||
                       (stem.size() == 5 && stem[3] == '\xC2')));
}

std::vector<std::string> pdb_candidates(std::string_view image_path, const CodeViewId& id,
                                        const SymbolPath& path) {
  const std::string_view name = file_name(id.path);
  if (!is_file_name(name)) return {};
  std::vector<std::string> candidates;
  const auto add = [&](std::string candidate) {
    if (std::find(candidates.begin(), candidates.end(), candidate) == candidates.end()) {
      candidates.push_back(std::move(candidate));
    }
  };
  const std::string_view image_name = file_name(image_path);
  if (image_name.size() < image_path.size()) {
    add(std::string(image_path.substr(0, image_path.size() - image_name.size())) + std::string(name));
  }
  if (name.size() < id.path.size()) add(id.path);
  const std::string store_id = symbol_store_id(id);
  for (const SymbolPath::Folder& folder : path.folders) {
    if (!folder.store) add(join(folder.path, name));
    const std::string stored = join(join(join(folder.path, name), store_id), name);
    add(stored);
    // Where the case of a file's name counts: some tools write a store in small letters.
    if (stored.find('\\') == std::string::npos) {
      add(join(join(join(folder.path, ascii_lower(name)), ascii_lower(store_id)), ascii_lower(name)));
    }
  }
  return candidates;
}

std::vector<std::string> image_candidates(std::string_view image_path, std::uint32_t timestamp,
                                          std::uint32_t size_of_image, const SymbolPath& path) {
  const std::string_view name = file_name(image_path);
  if (!is_file_name(name)) return {};
  // (https://learn.microsoft.com/windows/win32/debug/using-symstore: eight digits, and as many as it takes.)
  std::array<char, 17> id;
  std::snprintf(id.data(), id.size(), "%08X%x", static_cast<unsigned>(timestamp), static_cast<unsigned>(size_of_image));
  std::vector<std::string> candidates;
  for (const SymbolPath::Folder& folder : path.folders) {
    const auto add = [&](std::string_view file, std::string_view store) {
      if (!folder.store) candidates.push_back(join(folder.path, file));
      candidates.push_back(join(join(join(folder.path, file), store), file));
    };
    add(name, id.data());
    // Where the case of a file's name counts.
    const std::string lower = ascii_lower(name);
    const std::string lower_id = ascii_lower(std::string_view(id.data()));
    if (candidates.back().find('\\') == std::string::npos && (lower != name || lower_id != id.data())) {
      add(lower, lower_id);
    }
  }
  return candidates;
}

std::string symchk_manifest(std::vector<MissingPdb> missing) {
  std::sort(missing.begin(), missing.end());
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
  std::string text;
  for (const MissingPdb& one : missing) text += one.name + ',' + one.id + ",1\n";
  return text;
}

}  // namespace mixwalk
