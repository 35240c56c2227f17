#include "symbols/demangle/managed_types.h"

#include <algorithm>
#include <array>
#include <utility>

#include "unmanaged/joined.h"

namespace mixwalk {
namespace {

constexpr int kMaxDepth = 64;  // as in clr_name.cpp
// The maximum number of elements of a tuple in one type; an eighth element is a tuple with the rest.
constexpr std::size_t kMaxTuple = 7;

constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kKeywords = {{
    {"System.Boolean", "bool"}, {"System.Byte", "byte"},     {"System.Char", "char"},
    {"System.Decimal", "decimal"}, {"System.Double", "double"}, {"System.Int16", "short"},
    {"System.Int32", "int"},    {"System.Int64", "long"},    {"System.IntPtr", "nint"},
    {"System.Object", "object"}, {"System.SByte", "sbyte"},  {"System.Single", "float"},
    {"System.String", "string"}, {"System.UInt16", "ushort"}, {"System.UInt32", "uint"},
    {"System.UInt64", "ulong"}, {"System.UIntPtr", "nuint"}, {"System.Void", "void"},
}};

class TypeReader {
 public:
  explicit TypeReader(std::string_view text) : rest_(text) {}

  bool list(std::vector<std::string>& types, int depth) {
    if (rest_.empty()) return true;
    do {
      if (rest_.starts_with(' ')) rest_.remove_prefix(1);
      std::string type;
      if (!read(type, depth)) return false;
      types.push_back(std::move(type));
    } while (skip(','));
    return true;
  }
  bool at_end() const noexcept { return rest_.empty(); }

 private:
  bool skip(char c) noexcept {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool read(std::string& type, int depth) {
    if (depth > kMaxDepth) return false;
    std::string_view prefix;
    if (rest_.starts_with("ref ")) {
      prefix = rest_.substr(0, 4);
      rest_.remove_prefix(4);
    }
    if (!named(type, depth)) return false;
    suffixes(type);
    type.insert(0, prefix);
    return true;
  }

  // Reads "Outer<A>+Inner<B>", or a function pointer.
  bool named(std::string& type, int depth) {
    do {
      if (!type.empty()) type += '.';
      const std::string_view name = part();
      if (name.empty()) return false;
      for (const char c : name) type += c == '+' ? '.' : c;
      std::vector<std::string> arguments;
      if (skip('<')) {
        if (!list(arguments, depth + 1) || !skip('>')) return false;
        with_arguments(type, arguments);
      } else if (name == "method" && skip('(')) {
        if (!rest_.starts_with(')') && !list(arguments, depth + 1)) return false;
        if (!skip(')')) return false;
        type += '(' + joined(arguments, ", ") + ')';
      } else {
        const auto keyword =
            std::ranges::find(kKeywords, std::string_view(type), &decltype(kKeywords)::value_type::first);
        if (keyword != kKeywords.end()) type = keyword->second;
      }
    } while (skip('+'));
    return true;
  }

  static void with_arguments(std::string& type, const std::vector<std::string>& arguments) {
    if (type == "System.Nullable" && arguments.size() == 1) {
      type = arguments.front() + '?';
    } else if (type == "System.ValueTuple" && arguments.size() > 1 && arguments.size() <= kMaxTuple) {
      type = '(' + joined(arguments, ", ") + ')';
    } else {
      type += '<' + joined(arguments, ", ") + '>';
    }
  }

  // Reads a name up to its arguments. In each part, a name that a compiler invented may begin with a pair of angle
  // brackets.
  std::string_view part() {
    std::size_t at = 0;
    bool begins = true;
    while (at < rest_.size()) {
      const char c = rest_[at];
      if (c == '<' && begins) {
        const std::size_t end = closing_angle(rest_.substr(at));
        if (end == std::string_view::npos) break;
        at += end;
      } else if (std::string_view("<>()[],*").find(c) != std::string_view::npos || (c == '?' && at != 0)) {
        break;
      }
      begins = c == '+' || c == '.';
      ++at;
    }
    return take(at);
  }

  std::string_view take(std::size_t count) noexcept {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  // C# writes the ranks of an array of arrays from the outside in, metadata writes them from the inside out. A question
  // mark occurs only if C# itself has written the name: in the interface of an explicit implementation.
  void suffixes(std::string& type) {
    std::string ranks;
    while (!rest_.empty()) {
      if (const char mark = rest_.front(); mark == '*' || mark == '?') {
        type += std::exchange(ranks, {}) + mark;
        rest_.remove_prefix(1);
        continue;
      }
      if (!rest_.starts_with('[')) break;
      const std::size_t end = rest_.find_first_not_of(',', 1);
      if (end == std::string_view::npos || rest_[end] != ']') break;
      ranks.insert(0, take(end + 1));
    }
    type += ranks;
  }

  std::string_view rest_;
};

}  // namespace

std::optional<std::vector<std::string>> csharp_types(std::string_view list) {
  std::vector<std::string> types;
  TypeReader reader(list);
  if (!reader.list(types, 0) || !reader.at_end()) return std::nullopt;
  return types;
}

std::size_t closing_angle(std::string_view text) noexcept {
  std::size_t open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<') ++open;
    if (text[i] == '>' && --open == 0) return i;
  }
  return std::string_view::npos;
}

}  // namespace mixwalk
