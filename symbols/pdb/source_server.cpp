#include "symbols/pdb/source_server.h"

#include <algorithm>
#include <optional>

#include "symbols/web_url.h"
#include "unmanaged/ascii_lower.h"

namespace mixwalk {
namespace {

// Limits for the text of a URL: how deep variables lead to others, and how many parts are put together. Real ones need
// some ten of each.
constexpr int kMostNested = 20;
constexpr std::size_t kMostParts = 500;
// The limit for variables. Real streams have some ten, or one for each repository.
constexpr std::size_t kMaxVariables = 10'000;
// Limits for the lines: of one, and of source files. A line that is longer than a URL and a path may be is damaged.
constexpr std::size_t kMaxLine = 4 * kMaxWebUrl, kMaxFiles = 1'000'000;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  return text;
}

std::string_view path_of(std::string_view line) { return line.substr(0, line.find('*')); }

// Compares paths as Windows does, with either separator.
char path_letter(char c) { return c == '/' ? '\\' : ascii_lower(c); }
bool is_before(std::string_view left, std::string_view right) {
  return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end(),
                                      [](char a, char b) { return path_letter(a) < path_letter(b); });
}

}  // namespace

SourceServer::SourceServer(std::string_view text) {
  enum class Part { other, variables, files } part = Part::other;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.size() > kMaxLine) continue;
    if (ascii_lower(line.substr(0, 7)) == "srcsrv:") {
      const std::string name = ascii_lower(trimmed(line.substr(7)));
      part = name.starts_with("variables")      ? Part::variables
             : name.starts_with("source files") ? Part::files
                                                : Part::other;
    } else if (part == Part::files && !line.empty()) {
      if (files_.size() < kMaxFiles) files_.push_back(line);
    } else if (const std::size_t sign = line.find('='); part == Part::variables && sign != line.npos) {
      const std::string name = ascii_lower(trimmed(line.substr(0, sign)));
      if (variables_.size() < kMaxVariables) variables_.insert_or_assign(name, trimmed(line.substr(sign + 1)));
    }
  }
  std::ranges::stable_sort(files_, is_before, path_of);
}

// The expansion of one text for one file.
struct SourceServer::Expansion {
  const SourceServer& server;
  std::string_view line;
  std::size_t parts = 0;

  // Appends the text with the values of its variables. Returns false if it cannot be expanded.
  bool add(std::string_view text, int depth, std::string& into) {
    while (true) {
      const std::size_t begin = text.find('%');
      into += text.substr(0, begin);
      if (++parts > kMostParts || into.size() > kMaxWebUrl || depth > kMostNested) return false;
      if (begin == text.npos) return true;
      const std::size_t end = text.find('%', begin + 1);
      if (end == text.npos) return false;
      const std::string name = ascii_lower(text.substr(begin + 1, end - begin - 1));
      text.remove_prefix(end + 1);
      const bool is_function = name == "fnvar" || name == "fnbksl" || name == "fnfile";
      if (!(is_function ? add_call(name, text, depth, into) : add_variable(name, depth, into))) return false;
    }
  }

 private:
  bool add_variable(std::string_view name, int depth, std::string& into) {
    if (name.starts_with("var") && name.size() > 3 && name[3] >= '0' && name[3] <= '9') {
      const auto value = own_value(name.substr(3));
      if (!value) return false;
      into += *value;
      return true;
    }
    const auto found = server.variables_.find(name);
    return found != server.variables_.end() && add(found->second, depth + 1, into);
  }
  // The value of the file's line with this number, from 1 on.
  std::optional<std::string_view> own_value(std::string_view digits) const {
    std::size_t number = 0;
    for (const char c : digits) {
      const bool counts = c >= '0' && c <= '9' && number <= kValues;
      number = counts ? number * 10 + static_cast<std::size_t>(c - '0') : kValues + 1;
    }
    if (number == 0 || number > kValues) return std::nullopt;
    std::string_view rest = line;
    for (; number > 1; --number) {
      const std::size_t star = rest.find('*');
      if (star == rest.npos) return std::nullopt;
      rest.remove_prefix(star + 1);
    }
    return rest.substr(0, rest.find('*'));
  }
  // `text` begins with the argument in parentheses, which is removed from it.
  bool add_call(std::string_view function, std::string_view& text, int depth, std::string& into) {
    if (!text.starts_with('(')) return false;
    const std::size_t end = text.find(')');
    std::string argument;
    if (end == text.npos || !add(text.substr(1, end - 1), depth + 1, argument)) return false;
    text.remove_prefix(end + 1);
    if (function == "fnvar") return add_variable(ascii_lower(argument), depth + 1, into);
    if (function == "fnbksl") {
      std::ranges::replace(argument, '/', '\\');
    } else {
      argument.erase(0, argument.find_last_of("/\\") + 1);
    }
    into += argument;
    return true;
  }
};

std::string SourceServer::url_of(std::string_view path) const {
  const auto found = std::ranges::lower_bound(files_, path, is_before, path_of);
  if (found == files_.end() || is_before(path, path_of(*found))) return {};
  // Whatever the command is, the target is then the place to which it would put the file.
  std::string command, url;
  if (variables_.contains("srcsrvcmd")) {
    if (!Expansion{*this, *found}.add("%srcsrvcmd%", 0, command) || !trimmed(command).empty()) return {};
  }
  if (!Expansion{*this, *found}.add("%srcsrvtrg%", 0, url) || !is_web_url(url)) return {};
  return url;
}

}  // namespace mixwalk
