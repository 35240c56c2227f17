#include "walker/cli/input_names.h"

#include <algorithm>
#include <cstddef>
#include <unordered_set>
#include <utility>
#include <variant>

#include "unmanaged/ascii_lower.h"
#include "walker/base/partial_file.h"
#include "walker/base/printable.h"
#include "walker/cli/input_file.h"
#include "walker/cli/options/default_output.h"

namespace mixwalk {
namespace {

bool has_wildcards(std::string_view text) { return text.find_first_of("*?") != std::string_view::npos; }

// The number of bytes of a name's first character, in UTF-8.
std::size_t first_character(std::string_view name) {
  std::size_t bytes = 1;
  while (bytes < name.size() && (static_cast<unsigned char>(name[bytes]) & 0xC0) == 0x80) ++bytes;
  return bytes;
}

// Both in lower case. Takes time in proportion to the product of the lengths: only the last * is tried again.
bool fits(std::string_view pattern, std::string_view name) {
  std::optional<std::string_view> behind_star, name_there;
  while (true) {
    if (!pattern.empty() && pattern.front() == '*') {
      pattern.remove_prefix(1);
      behind_star = pattern;
      name_there = name;
    } else if (!pattern.empty() && pattern.front() == '?' && (name.empty() || name.front() == '.')) {
      pattern.remove_prefix(1);  // as in cmd: no character, before a dot or at the end
    } else if (!pattern.empty() && pattern.front() == '?') {
      pattern.remove_prefix(1);
      name.remove_prefix(first_character(name));
    } else if (!pattern.empty() && !name.empty() && pattern.front() == name.front()) {
      pattern.remove_prefix(1);
      name.remove_prefix(1);
    } else if (pattern.empty() && name.empty()) {
      return true;
    } else if (!behind_star || name_there->empty()) {
      return false;
    } else {
      name_there->remove_prefix(first_character(*name_there));
      pattern = *behind_star;
      name = *name_there;
    }
  }
}

// The folder of a name, with its last separator. Empty for the current folder.
std::string_view folder_of(std::string_view name) {
  return name.substr(0, name.find_last_of("/\\:") + 1);  // "C:a" is in the current folder of that drive
}

// Paths that the system takes as they are begin with \\?\ or \\.\.
std::string_view without_prefix(std::string_view folder) {
  return folder.starts_with("\\\\?\\") ? folder.substr(4) : folder;
}

// The files that a name with wildcards means.
Outcome<std::vector<std::string>> files_of(const std::string& name, const ListFolder& list_folder) {
  const std::string folder(folder_of(name));
  if (has_wildcards(without_prefix(folder))) {
    return unreadable_file(name, "* and ? can stand in the name of a file only, not in that of a folder");
  }
  const FolderListing listing = list_folder(path_of(folder.empty() ? "." : folder));
  if (!listing.error.empty()) return unreadable_file(name, "its folder: " + listing.error);
  std::vector<std::string> files;
  for (const std::string& file : listing.files) {
    if (fits_wildcards(std::string_view(name).substr(folder.size()), file)) files.push_back(folder + file);
  }
  if (files.empty()) {
    return unreadable_file(name, "no file in " + (folder.empty() ? "the current folder" : quoted_path(folder)) +
                                     " has such a name");
  }
  return files;
}

// `command`: the name of a command that reads one file.
std::optional<Failure> expand_one(std::string& name, const char* command, const ListFolder& list_folder) {
  std::vector<std::string> names = {name};
  if (auto failure = expand_names(names, list_folder)) return failure;
  if (names.size() == 1) {
    name = std::move(names.front());
    return std::nullopt;
  }
  constexpr std::size_t kMaxNamed = 4;
  std::string all;
  for (std::size_t i = 0; i < std::min(names.size(), kMaxNamed); ++i) {
    all += (i == 0 ? "" : ", ") + quoted_path(names[i]);
  }
  if (names.size() > kMaxNamed) all += ", …";
  return Failure{ExitCode::usage, std::string(command) + " takes one file, and " + quoted_path(name) + " means " +
                                      std::to_string(names.size()) + ": " + all};
}

struct Expand {
  const ListFolder& list_folder;

  std::optional<Failure> operator()(auto&) const { return std::nullopt; }
  std::optional<Failure> operator()(DumpFileCommand& command) const {
    return expand_one(command.file, "dump", list_folder);
  }
  std::optional<Failure> operator()(ConvertCommand& command) const {
    return expand_one(command.input, "convert", list_folder);
  }
  std::optional<Failure> operator()(SymboliseCommand& command) const {
    const bool is_default = command.output == symbolised_output(command.input);
    auto failure = expand_one(command.input, "symbolise", list_folder);
    if (is_default) command.output = symbolised_output(command.input);
    return failure;
  }
  std::optional<Failure> operator()(HangCommand& command) const {
    return command.single ? expand_one(command.files.front(), "report", list_folder)
                          : expand_names(command.files, list_folder);
  }
};

}  // namespace

bool fits_wildcards(std::string_view pattern, std::string_view name) {
  const std::string its = ascii_lower(name);
  std::string lower = ascii_lower(pattern);
  if (fits(lower, its)) return true;
  // For Windows, a name without a dot has an empty extension.
  if (!lower.ends_with(".*") || name.find('.') != std::string_view::npos) return false;
  lower.resize(lower.size() - 2);
  return fits(lower, its);
}

std::optional<Failure> expand_names(std::vector<std::string>& names, const ListFolder& list_folder) {
  if (!list_folder) return std::nullopt;
  std::vector<std::string> all;
  std::unordered_set<std::string> met;
  for (std::string& name : names) {
    if (!has_wildcards(without_prefix(name))) {
      met.insert(ascii_lower(name));
      all.push_back(std::move(name));
      continue;
    }
    auto files = files_of(name, list_folder);
    if (!files) return files.failure();
    for (std::string& file : *files) {
      if (met.insert(ascii_lower(file)).second) all.push_back(std::move(file));
    }
  }
  names = std::move(all);
  return std::nullopt;
}

std::optional<Failure> expand_inputs(Command& command, const ListFolder& list_folder) {
  return std::visit(Expand{list_folder}, command);
}

}  // namespace mixwalk
