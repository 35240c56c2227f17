#include "walker/clr/dac_name.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include "symbols/clr_name.h"

namespace mixwalk {
namespace {

// The limit for nested types. Real ones are nested only a few levels deep.
constexpr int kMaxDepth = 16;
constexpr std::size_t kMaxArguments = 64;

// Types that the library writes without their namespace, in a list of parameters.
constexpr std::string_view kPrimitives[] = {
    "Void",  "Boolean", "Char",   "SByte",  "Byte",   "Int16",  "UInt16",     "Int32",
    "UInt32", "Int64",  "UInt64", "Single", "Double", "IntPtr", "UIntPtr",
};

// The library writes types with their arguments as reflection does: Name`1[[Argument, Assembly],[…]].
class TypeText {
 public:
  explicit TypeText(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ == text_.size(); }
  std::string_view rest() const { return text_.substr(at_); }
  bool take(std::string_view expected) {
    if (!rest().starts_with(expected)) return false;
    at_ += expected.size();
    return true;
  }

  // Parses "[[A, Assembly],[B, Assembly]]"; the result is already formatted. Returns false for any other text.
  bool arguments(std::vector<std::string>& arguments, int depth) {
    if (depth > kMaxDepth || !take("[")) return false;
    do {
      std::string argument;
      if (arguments.size() == kMaxArguments || !take("[") || !type(argument, depth + 1)) return false;
      if (take(",")) skip_assembly();
      if (!take("]")) return false;
      arguments.push_back(std::move(argument));
    } while (take(","));
    return take("]");
  }

  bool type(std::string& text, int depth) {
    std::string name;
    while (!at_end() && text_[at_] != '[' && text_[at_] != ',' && text_[at_] != ']') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;  // the next character is part of the name
      name += text_[at_++];
    }
    if (name.empty()) return false;
    std::vector<std::string> inner;
    if (rest().starts_with("[[") && !arguments(inner, depth)) return false;
    // Pointers and references come after the arguments.
    std::string suffix;
    while (!at_end() && (text_[at_] == '*' || text_[at_] == '&' || text_[at_] == '[')) {
      if (text_[at_] != '[') {
        suffix += text_[at_++];
        continue;
      }
      suffix += text_[at_++];
      while (!at_end() && (text_[at_] == ',' || text_[at_] == '*')) {
        if (text_[at_] == ',') suffix += ',';
        ++at_;
      }
      if (!take("]")) return false;
      suffix += ']';
    }
    text = with_arguments(name, inner) + suffix;
    return true;
  }

 private:
  void skip_assembly() {
    while (!at_end() && text_[at_] != ']') ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

bool is_of_name(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '.' ||
         c == '+' || c == '`' || static_cast<unsigned char>(c) >= 0x80;
}

// One parameter: primitives get their namespace, arities are cut off, and "X ByRef" becomes "ref X".
std::string parameter(std::string_view text) {
  constexpr std::string_view kByRef = " ByRef";
  std::string shaped;
  if (text.ends_with(kByRef)) {
    text.remove_suffix(kByRef.size());
    shaped = "ref ";
  }
  while (!text.empty()) {
    const auto end = std::find_if_not(text.begin(), text.end(), is_of_name);
    const std::string_view name = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    if (std::ranges::find(kPrimitives, name) != std::end(kPrimitives)) {
      shaped += "System.";
      shaped += name;
    } else {
      shaped += with_arguments(name, {});
    }
    text.remove_prefix(name.size());
    for (; !text.empty() && !is_of_name(text.front()); text.remove_prefix(1)) {
      shaped += text.front();
      // In "A<B,C>" a space is needed between the arguments of a generic type.
      if (text.front() == ',' && text.size() > 1 && text[1] != ' ' && text[1] != ',' && text[1] != ']') shaped += ' ';
    }
  }
  return shaped;
}

// Converts "(A, B<C, D>)" parameter by parameter.
std::string parameters(std::string_view list) {
  if (list.size() < 2 || list.front() != '(' || list.back() != ')') return "(?)";
  list = list.substr(1, list.size() - 2);
  std::string shaped = "(";
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= list.size(); ++at) {
    const char c = at < list.size() ? list[at] : ',';
    if (c == '<' || c == '(' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == ']') --depth;
    if (c != ',' || (depth > 0 && at < list.size())) continue;
    if (begin != 0) shaped += ", ";
    shaped += parameter(list.substr(begin, at - begin));
    begin = at + 1;
    while (begin < list.size() && list[begin] == ' ') ++begin;
  }
  return shaped + ')';
}

// Where the list in brackets at the end of the text begins, or npos if the text does not end with such a list.
std::size_t list_at_end(std::string_view text) {
  if (!text.ends_with("]]")) return std::string_view::npos;
  int depth = 0;
  for (std::size_t at = text.size(); at-- > 0;) {
    if (text[at] == ']') ++depth;
    if (text[at] == '[' && --depth == 0) return at;
  }
  return std::string_view::npos;
}

// Removes a list of arguments from the text's end, and returns it.
std::vector<std::string> take_arguments(std::string_view& text) {
  const std::size_t begin = list_at_end(text);
  std::vector<std::string> arguments;
  if (begin == std::string_view::npos) return arguments;
  TypeText list(text.substr(begin));
  if (!list.arguments(arguments, 0) || !list.at_end()) return {};
  text = text.substr(0, begin);
  return arguments;
}

// The dot between type and method, which is the last one outside of brackets. In "A..ctor" it is the first of the two.
std::size_t method_dot(std::string_view head) {
  int depth = 0;
  for (std::size_t at = head.size(); at-- > 0;) {
    const char c = head[at];
    if (c == ']' || c == '>') ++depth;
    if (c == '[' || c == '<') --depth;
    if (c == '.' && depth <= 0) return at > 0 && head[at - 1] == '.' ? at - 1 : at;
  }
  return std::string_view::npos;
}

std::size_t parameters_at(std::string_view name) {
  int depth = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (name[at] == '[') ++depth;
    if (name[at] == ']') --depth;
    if (name[at] == '(' && depth == 0) return at;
  }
  return name.size();
}

}  // namespace

std::string type_of_dac_name(std::string_view name) {
  TypeText text(name);
  std::string type;
  return text.type(type, 0) && text.at_end() ? type : std::string(name);
}

std::optional<DacArguments> dac_arguments(std::string_view name, std::string_view type, std::string_view method) {
  DacArguments arguments;
  TypeText text(name);
  if (!type.empty()) {
    if (!text.take(type)) return std::nullopt;
    if (text.rest().starts_with("[[") && !text.arguments(arguments.of_type, 0)) return std::nullopt;
    if (!text.take(".")) return std::nullopt;
  }
  if (!text.take(method)) return std::nullopt;
  if (text.rest().starts_with("[[") && !text.arguments(arguments.of_method, 0)) return std::nullopt;
  if (!text.at_end() && !text.rest().starts_with("(")) return std::nullopt;
  return arguments;
}

ClrMethod method_of_dac_name(std::string_view name, bool dynamic) {
  const std::size_t list = parameters_at(name);
  std::string_view head = name.substr(0, list);
  // The library marks methods that the program made as dynamic, but not all stubs. It invents the types of both.
  for (const std::string_view type : {"DynamicClass.", "ILStubClass."}) {
    if (!head.starts_with(type)) continue;
    head.remove_prefix(type.size());
    dynamic = true;
  }
  if (dynamic) return {std::string(head), head.starts_with("IL_STUB")};
  const std::vector<std::string> of_method = take_arguments(head);
  const std::size_t dot = method_dot(head);
  std::string text;
  if (dot != std::string_view::npos) {
    std::string_view type = head.substr(0, dot);
    const std::vector<std::string> of_type = take_arguments(type);
    text = with_arguments(type, of_type) + '.';
    head.remove_prefix(dot + 1);
  }
  if (head.empty()) return {};
  text += with_arguments(head, of_method);
  return {text + parameters(name.substr(list)), false};
}

std::string added_method_name(std::string_view type, std::uint32_t token) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "[method %08X, added by hot reload](?)", unsigned{token});
  return (type.empty() ? std::string() : std::string(type) + '.') + text.data();
}

}  // namespace mixwalk
