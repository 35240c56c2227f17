#include <utility>

#include "symbols/demangle/msvc_parser.h"

namespace mixwalk {
namespace {

// "int" and "*": "int *"; "int *" and "*": "int **".
void append_sign(std::string& left, std::string_view sign) {
  if (!left.empty() && left.back() != '*' && left.back() != '&' && left.back() != '(' && left.back() != ' ') {
    left += ' ';
  }
  left += sign;
}

std::string with_qualifiers(std::string text, std::string_view qualifiers) {
  // A pointer's own "const" and the "const" that its pointer adds are the same one, so it is written once.
  if (!qualifiers.empty() && !text.ends_with(qualifiers)) (text += ' ') += qualifiers;
  return text;
}

}  // namespace

// A function's access, its own qualifiers and its type: "(int) const".
std::string MsvcParser::function_rest(std::string* return_type) {
  const Deeper deeper(*this);
  if (!ok_) return {};
  const char access = peek();
  ++at_;
  std::string behind;
  if (access >= 'A' && access <= 'X') {
    const int kind = (access - 'A') % 8;         // pairs: near and far
    if (kind >= 6) number();                     // a thunk that adjusts "this"
    if (kind / 2 != 1) behind = this_qualifiers();  // all except static functions
  } else if (access == '$') {                    // thunks of virtual bases
    const char which = peek();
    ++at_;
    if (which == 'R') ++at_;
    if (which == 'B') {
      number();
      take("A");
      return ok_ ? "{...}" : std::string();
    }
    if ((which < '0' || which > '5') && which != 'R') return fail();
    for (int i = which == 'R' ? 4 : 2; i > 0 && ok_; --i) number();
    behind = this_qualifiers();
  } else if (access != 'Y' && access != 'Z') {
    return fail();
  }
  calling_convention();
  if (take("@")) {
    // no type, as of constructors
  } else {
    const MsvcType returned = result_type();
    if (return_type != nullptr) *return_type = returned.whole();
  }
  return ok_ ? checked(parameters() + behind) : std::string();
}

std::string MsvcParser::parameters() {
  std::string list = "(";
  if (take("X")) {
    if (take("Z")) return "()";
    return take("_E") ? "() noexcept" : fail();
  }
  while (ok_) {
    if (take("@")) break;
    if (take("Z")) {
      list += list.size() > 1 ? ", ..." : "...";
      break;
    }
    if (at_ >= text_.size()) return fail();
    const char c = peek();
    MsvcType found;
    if (c >= '0' && c <= '9') {
      const auto index = static_cast<std::size_t>(c - '0');
      if (index >= memory_.types.size()) return fail();
      ++at_;
      found = memory_.types[index];
    } else {
      const std::size_t begin = at_;
      found = type();
      // A type of one letter gets no number for back references.
      if (at_ - begin > 1 && memory_.types.size() < kMaxBack) memory_.types.push_back(found);
    }
    if (list.size() > 1) list += ", ";
    list = checked(list + found.whole());
  }
  if (ok_ && take("Z")) return list + ')';
  return ok_ && take("_E") ? list + ") noexcept" : fail();
}

MsvcType MsvcParser::result_type() {
  if (!take("?")) return type();
  extended_qualifiers();
  const std::string_view own = qualifiers();
  MsvcType result = type();
  result.left = with_qualifiers(std::move(result.left), own);
  return result;
}

MsvcType MsvcParser::type() {
  const Deeper deeper(*this);
  if (!ok_) return {};
  if (take("$$T")) return {"std::nullptr_t", ""};
  if (take("$$Q")) return pointer("&&", "");
  if (take("$$R")) return pointer("&&", "volatile");
  if (take("$$A6")) return function_type("");
  if (take("$$A8@@")) {
    const std::string behind = this_qualifiers();
    MsvcType result = function_type("");
    result.right += behind;
    return result;
  }
  if (take("$$C")) {
    extended_qualifiers();
    const std::string_view own = qualifiers();
    MsvcType result = type();
    result.left = with_qualifiers(std::move(result.left), own);
    return result;
  }
  if (take("?")) {  // an invented type of the compiler: "?<auto>@@"
    std::string name = peek() >= '0' && peek() <= '9' ? back_name() : simple_name(true);
    if (!take("@")) fail();
    return {std::move(name), ""};
  }
  switch (peek()) {
    case 'A': ++at_; return pointer("&", "");
    case 'B': ++at_; return pointer("&", "volatile");
    case 'P': ++at_; return pointer("*", "");
    case 'Q': ++at_; return pointer("*", "const");
    case 'R': ++at_; return pointer("*", "volatile");
    case 'S': ++at_; return pointer("*", "const volatile");
    case 'T':
    case 'U':
    case 'V': ++at_; return {type_name(), ""};
    case 'W':
      at_ += 2;  // with the size of the enumeration's numbers
      return {type_name(), ""};
    case 'Y': ++at_; return array_type();
    default: return {primitive(), ""};
  }
}

MsvcType MsvcParser::pointer(std::string_view sign, std::string_view own_qualifiers) {
  const Deeper deeper(*this);
  if (!ok_) return {};
  if (take("6")) {
    MsvcType result = function_type(sign);
    result.left += own_qualifiers;
    return result;
  }
  if (take("8")) {  // to a member function
    const std::string of = type_name();
    const std::string behind = this_qualifiers();
    MsvcType result = function_type(of + "::" + std::string(sign));
    result.left += own_qualifiers;
    result.right += behind;
    return result;
  }
  extended_qualifiers();
  std::string of;
  std::string_view pointed;
  if (peek() >= 'Q' && peek() <= 'T') {  // to a member
    constexpr std::string_view kMember[] = {"", "const", "volatile", "const volatile"};
    pointed = kMember[peek() - 'Q'];
    ++at_;
    of = type_name() + "::";
  } else {
    pointed = qualifiers();
  }
  if (take("6")) return function_type(of + std::string(sign));
  MsvcType result = type();
  if (!ok_) return {};
  result.left = with_qualifiers(std::move(result.left), pointed);
  const bool declared_inside = result.right.starts_with('[') || result.right.starts_with('(');
  if (declared_inside) result.left += result.left.ends_with(' ') ? "(" : " (";
  append_sign(result.left, of + std::string(sign));
  result.left += own_qualifiers;
  if (declared_inside) result.right = ')' + result.right;
  result.left = checked(std::move(result.left));
  return result;
}

// Reads the part behind the "6". `inner` is what points to the function.
MsvcType MsvcParser::function_type(std::string_view inner) {
  const Deeper deeper(*this);
  if (!ok_) return {};
  const std::string_view convention = calling_convention();
  MsvcType result;
  if (!take("@")) result = result_type();
  std::string list = parameters();
  if (!ok_) return {};
  result.left += ' ';
  if (!inner.empty()) ((result.left += '(') += convention) += ' ';
  result.left += inner;
  result.right = checked((inner.empty() ? "" : ")") + std::move(list) + result.right);
  return result;
}

MsvcType MsvcParser::array_type() {
  const std::string rank = number();
  if (!ok_ || rank.size() > 2 || rank.starts_with('-')) {
    fail();
    return {};
  }
  std::string dimensions;
  for (int i = std::stoi(rank); i > 0 && ok_; --i) {
    const std::string size = number();
    dimensions += '[' + (size == "0" ? std::string() : size) + ']';
  }
  MsvcType result = type();
  result.right = checked(dimensions + result.right);
  return result;
}

std::string MsvcParser::primitive() {
  const char c = peek();
  ++at_;
  switch (c) {
    case 'X': return "void";
    case 'D': return "char";
    case 'C': return "signed char";
    case 'E': return "unsigned char";
    case 'F': return "short";
    case 'G': return "unsigned short";
    case 'H': return "int";
    case 'I': return "unsigned int";
    case 'J': return "long";
    case 'K': return "unsigned long";
    case 'M': return "float";
    case 'N': return "double";
    case 'O': return "long double";
    case '_': break;
    default: return fail();
  }
  const char wide = peek();
  ++at_;
  switch (wide) {
    case 'N': return "bool";
    case 'J': return "__int64";
    case 'K': return "unsigned __int64";
    case 'L': return "__int128";
    case 'M': return "unsigned __int128";
    case 'W': return "wchar_t";
    case 'Q': return "char8_t";
    case 'S': return "char16_t";
    case 'U': return "char32_t";
    case 'P': return "auto";
    case 'T': return "decltype(auto)";
    default: return fail();
  }
}

// Reads what a member function requires of its object: " const", " &&".
std::string MsvcParser::this_qualifiers() {
  std::string reference;
  for (;; ++at_) {
    if (peek() == 'G') reference = " &";
    else if (peek() == 'H') reference = " &&";
    else if (peek() != 'E' && peek() != 'F' && peek() != 'I') break;
  }
  return with_qualifiers({}, qualifiers()) + reference;
}

std::string_view MsvcParser::calling_convention() {
  const char c = peek();
  ++at_;
  switch (c) {
    case 'A':
    case 'B': return "__cdecl";
    case 'C':
    case 'D': return "__pascal";
    case 'E':
    case 'F': return "__thiscall";
    case 'G':
    case 'H': return "__stdcall";
    case 'I':
    case 'J': return "__fastcall";
    case 'M':
    case 'N': return "__clrcall";
    case 'O':
    case 'P': return "__eabi";
    case 'Q': return "__vectorcall";
    case 'S': return "__attribute__((__swiftcall__))";
    case 'w': return "__regcall";
    default: ok_ = false; return {};
  }
}

// Skips 64 bits, unaligned, restrict, because they do not help the reader of a stack.
void MsvcParser::extended_qualifiers() noexcept {
  while (peek() == 'E' || peek() == 'F' || peek() == 'I') ++at_;
}

std::string_view MsvcParser::qualifiers() noexcept {
  const char c = peek();
  ++at_;
  switch (c) {
    case 'A': return "";
    case 'B': return "const";
    case 'C': return "volatile";
    case 'D': return "const volatile";
    default: ok_ = false; return {};
  }
}

}  // namespace mixwalk
