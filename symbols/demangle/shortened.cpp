#include <algorithm>
#include <array>
#include <utility>

#include "symbols/demangle/demangle.h"

namespace mixwalk {
namespace {

// In characters. Longer arguments of a template, and longer lists of parameters, are folded.
constexpr std::size_t kMaxArguments = 32, kMaxParameters = 48;
// The limit for brackets that are never closed, because each is looked for up to the end. No compiler writes one.
constexpr int kMaxUnclosed = 4;
// The limit in characters. Nobody would read a longer name, so only its beginning is kept.
constexpr std::size_t kMaxText = 16 * 1024;
constexpr int kMaxDepth = 24;  // arguments inside arguments; deeper ones are folded without being read

// Arguments that the standard library's templates have by default. The first argument of a template is never one.
constexpr std::array<std::string_view, 6> kDefaults = {"std::allocator<", "std::char_traits<",
                                                       "std::less<",      "std::hash<",
                                                       "std::equal_to<",  "std::default_delete<"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kAliases = {{
    {"std::basic_string<char>", "std::string"},
    {"std::basic_string<wchar_t>", "std::wstring"},
    {"std::basic_string_view<char>", "std::string_view"},
    {"std::basic_string_view<wchar_t>", "std::wstring_view"},
}};

// Whether `at` is at an operator's sign rather than a bracket: "operator<<", "operator->", "operator()".
std::size_t operator_sign(std::string_view text, std::size_t at) noexcept {
  constexpr std::string_view kWord = "operator", kSigns = "<>-(";
  if (kSigns.find(text[at]) == kSigns.npos || at < kWord.size() ||
      text.substr(at - kWord.size(), kWord.size()) != kWord) {
    return 0;
  }
  for (const std::string_view sign :
       {"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "()", "<", ">"}) {
    if (text.substr(at).starts_with(sign)) return sign.size();
  }
  return 0;
}

// Returns where the bracket at `at` is closed, or npos if it is not closed.
std::size_t closing(std::string_view text, std::size_t at) noexcept {
  int angles = 0, rounds = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    if (const std::size_t sign = operator_sign(text, i)) {
      i += sign - 1;
      continue;
    }
    const char c = text[i];
    if (c == '(' || c == '[' || c == '{') ++rounds;
    if (c == ')' || c == ']' || c == '}') --rounds;
    if (c == '<' && rounds == (text[at] == '(' ? 1 : 0)) ++angles;
    if (c == '>' && i > 0 && text[i - 1] != '-' && rounds == (text[at] == '(' ? 1 : 0)) --angles;
    if (rounds < 0) return text.npos;
    if (rounds == 0 && angles <= 0) return i;
  }
  return text.npos;
}

std::string_view trimmed(std::string_view text) noexcept {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::string fold(std::string_view text, int depth);

// Returns the arguments between a template's brackets without the default ones; each argument is folded as well.
std::string fold_arguments(std::string_view text, int depth) {
  std::string result;
  std::size_t begin = 0;
  bool first = true;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != ',') {
      if (text[i] == '<' || text[i] == '(' || text[i] == '{' || text[i] == '[') {
        const std::size_t end = operator_sign(text, i) != 0 ? i : closing(text, i);
        if (end == text.npos) return "...";
        i = end;
      }
      continue;
    }
    const std::string argument = fold(trimmed(text.substr(begin, i - begin)), depth + 1);
    begin = i + 1;
    bool is_default = false;
    for (const std::string_view start : kDefaults) is_default = is_default || argument.starts_with(start);
    if (is_default && !first) continue;
    if (!first) result += ", ";
    result += argument;
    first = false;
    if (result.size() > kMaxArguments) return "...";
  }
  return result;
}

void replace_aliases(std::string& text) {
  for (const auto& [from, to] : kAliases) {
    if (text.ends_with(from)) text.replace(text.size() - from.size(), from.size(), to);
  }
}

std::string fold(std::string_view text, int depth) {
  if (depth > kMaxDepth) return "...";
  std::string result;
  int unclosed = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (const std::size_t sign = operator_sign(text, i)) {
      result += text.substr(i, sign);
      i += sign - 1;
      continue;
    }
    // Leaves out the versioned namespaces of the libraries: std::__cxx11::, std::__1::.
    if (text.substr(i).starts_with("std::__cxx11::")) {
      result += "std::";
      i += 13;
      continue;
    }
    if (text.substr(i).starts_with("std::__1::")) {
      result += "std::";
      i += 9;
      continue;
    }
    const bool opens = (text[i] == '<' || text[i] == '(') && unclosed < kMaxUnclosed;
    const std::size_t end = opens ? closing(text, i) : text.npos;
    if (end == text.npos) {
      unclosed += opens;
      result += text[i];
      continue;
    }
    const std::string_view inner = text.substr(i + 1, end - i - 1);
    if (text[i] == '<') {
      result += '<' + fold_arguments(inner, depth) + '>';
      replace_aliases(result);
    } else if (inner == "anonymous namespace") {
      result += "(anonymous namespace)";
    } else {
      const std::string parameters = fold(inner, depth + 1);
      result += parameters.size() > kMaxParameters ? "(...)" : '(' + parameters + ')';
    }
    i = end;
  }
  return result;
}

}  // namespace

std::string shortened(std::string_view demangled) {
  if (demangled.size() > kMaxText) {
    return std::string(demangled.substr(0, std::min(demangled.find_first_of("<("), kMaxArguments))) + "...";
  }
  return fold(demangled, 0);
}

}  // namespace mixwalk
