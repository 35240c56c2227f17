#include "walker/cli/local_symbols.h"

#include <algorithm>
#include <iterator>

#include "symbols/shares.h"
#include "unmanaged/image/debug_directory.h"
#include "walker/base/count_words.h"
#include "walker/base/environment.h"
#include "walker/base/printable.h"
#include "walker/cli/output/print_failure.h"

namespace mixwalk {

namespace {

std::string symbol_path_text(const SymbolChoice& choice) {
  return choice.path ? *choice.path : environment_text("_NT_SYMBOL_PATH").value_or("");
}

constexpr const char* kNameTheFolder = "name its folder with --symbol-path";
constexpr const char* kNameTheFolders = "name their folders with --symbol-path";

// "a.dll, b.dll": the first of them.
std::string few(const std::vector<std::string>& files) {
  constexpr std::size_t kMaxNamed = 5, kMaxName = 100;
  std::string text;
  for (std::size_t i = 0; i < std::min(files.size(), kMaxNamed); ++i) {
    text += (i == 0 ? "" : ", ") + printable(files[i], kMaxName);
  }
  if (files.size() > kMaxNamed) text += " and " + std::to_string(files.size() - kMaxNamed) + " more";
  return text;
}

}  // namespace

std::string default_symbol_store() {
  // The first variable is Windows', the others are those of the XDG base directories.
  if (const auto local = environment_text("LOCALAPPDATA"); local && is_on_drive(*local)) {
    return *local + "\\mixwalk\\symbols";
  }
  if (const auto cache = environment_text("XDG_CACHE_HOME"); cache && cache->starts_with('/')) {
    return *cache + "/mixwalk/symbols";
  }
  const auto home = environment_text("HOME");
  return home && home->starts_with('/') ? *home + "/.cache/mixwalk/symbols" : std::string();
}

SymbolPath symbol_path_of(const SymbolChoice& choice) {
  SymbolPath path = parse_symbol_path(symbol_path_text(choice), default_symbol_store(), choice.asking);
  DiskImageFiles files;
  find_tiers(path, files);
  return path;
}

std::vector<std::string> missing_folders(const SymbolPath& path) {
  std::vector<std::string> made_when_needed = {default_symbol_store()};
  for (const SymbolPath::Server& server : path.servers) {
    made_when_needed.insert(made_when_needed.end(), server.stores.begin(), server.stores.end());
  }
  std::vector<std::string> lines;
  for (const SymbolPath::Folder& folder : path.folders) {
    if (folder_at(folder.path) != FolderState::missing) continue;
    if (std::ranges::find(made_when_needed, folder.path) != made_when_needed.end()) continue;
    lines.push_back(quoted_path(folder.path) + " is not a folder, and is left out");
  }
  for (const SymbolPath::LeftOut& one : path.left_out) {
    lines.push_back(quoted_path(one.part) + ' ' + std::string(one.why) + ", and is left out: " +
                    std::string(one.advice));
  }
  return lines;
}

void say_missing_folders(const SymbolChoice& choice) {
  // What is not asked is not said to be missing, except for Microsoft's server, which may lack a store.
  const SymbolAsking asking = choice.asking == SymbolAsking::online ? choice.asking : SymbolAsking::by_path;
  const auto lines = missing_folders(parse_symbol_path(choice.path.value_or(""), default_symbol_store(), asking));
  constexpr std::size_t kMaxShown = 20;
  for (std::size_t i = 0; i < std::min(lines.size(), kMaxShown); ++i) {
    print_failure({ExitCode::ok, "--symbol-path: " + lines[i]});
  }
  if (lines.size() > kMaxShown) {
    print_failure({ExitCode::ok, "--symbol-path: " + count_words(lines.size() - kMaxShown, "further part") +
                                     " of it cannot be used"});
  }
}

LocalSymbols::LocalSymbols(const SymbolChoice& choice, const SymbolPath& path)
    : loader_(path, choice),
      files_(disk_, folders_of(path)),
      symboliser_(files_, disk_, path, loader_.servers()),
      lines_(files_, disk_, path, loader_.servers()),
      identities_(files_, path) {}

std::vector<MissingPdb> LocalSymbols::missing() const { return missing_of(symboliser_, lines_); }

std::vector<std::string> LocalSymbols::problems() const { return problems_of(symboliser_, lines_); }

std::vector<std::string> problems_of(const Symboliser& native, const ManagedLines& managed) {
  std::vector<std::string> problems = native.problems();
  problems.insert(problems.end(), managed.problems().begin(), managed.problems().end());
  std::ranges::move(silent_shares(), std::back_inserter(problems));
  return problems;
}

void say_symbol_problems(const std::vector<std::string>& problems) {
  constexpr std::size_t kMaxShown = 20;
  for (std::size_t i = 0; i < std::min(problems.size(), kMaxShown); ++i) print_failure({ExitCode::ok, problems[i]});
  if (problems.size() > kMaxShown) {
    print_failure({ExitCode::ok, "and " + count_words(problems.size() - kMaxShown, "further symbol file")});
  }
}

std::vector<MissingPdb> missing_of(const Symboliser& native, const ManagedLines& managed) {
  std::vector<MissingPdb> missing = native.missing();
  missing.insert(missing.end(), managed.missing().begin(), managed.missing().end());
  std::sort(missing.begin(), missing.end());
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
  return missing;
}

std::string manifest_text(const std::vector<MissingPdb>& missing) {
  constexpr std::size_t kMaxShown = 64 * 1024;
  std::string text;
  for (const MissingPdb& pdb : missing) {
    std::string line = symchk_manifest({pdb});
    line.pop_back();
    text += printable(line, kMaxShown) + "\n";
    if (text.size() > kMaxShown) break;
  }
  return text;
}

std::string not_found_words(const std::vector<MissingPdb>& missing) {
  return count_words(missing.size(), "PDB") + (missing.size() == 1 ? " was" : " were") + " not found";
}

std::string missing_text(const std::vector<MissingPdb>& missing) {
  if (missing.empty()) return {};
  std::string text = manifest_text(missing);
  text.pop_back();
  return not_found_words(missing) + "; in the form that symchk /im reads:\n" + text;
}

std::string missing_assemblies_text(const std::vector<std::string>& files) {
  if (files.empty()) return {};
  if (files.size() == 1) {
    return "the assembly " + few(files) + " is not in the dump, so its methods have no names; " + kNameTheFolder;
  }
  return "the assemblies " + few(files) + " are not in the dump, so their methods have no names; " + kNameTheFolders;
}

std::string missing_images_text(const std::vector<std::string>& files) {
  if (files.empty()) return {};
  if (files.size() == 1) {
    return "the unwind data of the image " + few(files) + " is not in the dump, so stacks end in the image; " +
           kNameTheFolder;
  }
  return "the unwind data of the images " + few(files) + " is not in the dump, so stacks end in these images; " +
         kNameTheFolders;
}

std::string overlapping_images_text(const std::vector<std::string>& paths) {
  if (paths.empty()) return {};
  constexpr std::size_t kMaxPath = 1000;  // bytes
  if (paths.size() == 1) return "an image is left out, because it overlaps another: " + printable(paths[0], kMaxPath);
  std::vector<std::string> files;
  for (const std::string& path : paths) files.emplace_back(file_name(path));
  return count_words(files.size(), "image") + " are left out, because they overlap others: " + few(files);
}

}  // namespace mixwalk
