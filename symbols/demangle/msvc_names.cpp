#include <utility>

#include "symbols/demangle/demangle.h"
#include "symbols/demangle/msvc_parser.h"

namespace mixwalk {
namespace {

using Code = std::pair<std::string_view, std::string_view>;
// The codes that follow "??" in a function's name.
constexpr Code kOperators[] = {
    {"2", "operator new"}, {"3", "operator delete"}, {"4", "operator="}, {"5", "operator>>"},
    {"6", "operator<<"}, {"7", "operator!"}, {"8", "operator=="}, {"9", "operator!="}, {"A", "operator[]"},
    {"C", "operator->"}, {"D", "operator*"}, {"E", "operator++"}, {"F", "operator--"}, {"G", "operator-"},
    {"H", "operator+"}, {"I", "operator&"}, {"J", "operator->*"}, {"K", "operator/"}, {"L", "operator%"},
    {"M", "operator<"}, {"N", "operator<="}, {"O", "operator>"}, {"P", "operator>="}, {"Q", "operator,"},
    {"R", "operator()"}, {"S", "operator~"}, {"T", "operator^"}, {"U", "operator|"}, {"V", "operator&&"},
    {"W", "operator||"}, {"X", "operator*="}, {"Y", "operator+="}, {"Z", "operator-="}, {"_0", "operator/="},
    {"_1", "operator%="}, {"_2", "operator>>="}, {"_3", "operator<<="}, {"_4", "operator&="},
    {"_5", "operator|="}, {"_6", "operator^="}, {"_7", "`vftable'"}, {"_8", "`vbtable'"}, {"_9", "`vcall'"},
    {"_A", "`typeof'"}, {"_B", "`local static guard'"}, {"_D", "`vbase dtor'"},
    {"_E", "`vector deleting dtor'"}, {"_F", "`default ctor closure'"}, {"_G", "`scalar deleting dtor'"},
    {"_H", "`vector ctor iterator'"}, {"_I", "`vector dtor iterator'"},
    {"_J", "`vector vbase ctor iterator'"}, {"_K", "`virtual displacement map'"},
    {"_L", "`eh vector ctor iterator'"}, {"_M", "`eh vector dtor iterator'"},
    {"_N", "`eh vector vbase ctor iterator'"}, {"_O", "`copy ctor closure'"}, {"_S", "`local vftable'"},
    {"_T", "`local vftable ctor closure'"}, {"_U", "operator new[]"}, {"_V", "operator delete[]"},
    {"__L", "operator co_await"}, {"__M", "operator<=>"},
};

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

}  // namespace

std::string demangle_msvc(std::string_view name) {
  return MsvcParser(name).whole();
}

bool MsvcParser::take(std::string_view expected) noexcept {
  if (!rest().starts_with(expected)) return false;
  at_ += expected.size();
  return true;
}

std::string MsvcParser::fail() noexcept {
  ok_ = false;
  return {};
}

std::string MsvcParser::checked(std::string text) noexcept {
  return text.size() <= kMaxText ? std::move(text) : fail();
}

void MsvcParser::remember(const std::string& name) {
  for (const std::string& known : memory_.names) {
    if (known == name) return;
  }
  if (memory_.names.size() < kMaxBack) memory_.names.push_back(name);
}

std::string MsvcParser::whole() {
  std::string text = symbol();
  // Compilers and linkers append nothing, so if text is left over, the name was not understood.
  return ok_ && at_ == text_.size() ? text : std::string();
}

// Reads "?", the name, and the kind of the symbol.
std::string MsvcParser::symbol() {
  const Deeper deeper(*this);
  if (!ok_ || !take("?")) return fail();
  const Structor outer = std::exchange(structor_, Structor::none);
  if (std::optional<std::string> special = special_symbol()) {
    structor_ = outer;
    return *std::move(special);
  }
  bool structor_resolved = false;
  std::string name = qualified(function_name(), structor_resolved);
  const Structor kind = std::exchange(structor_, outer);
  if (!ok_) return {};
  take("$$J0");  // extern "C" inside a C++ name
  const char c = peek();
  if (c >= '0' && c <= '4') {  // a variable: only its name matters, but the rest must be a type
    ++at_;
    type();
    extended_qualifiers();
    qualifiers();
    return name;
  }
  if (c == '6' || c == '7') {  // a table of virtual functions, with the name of the base
    ++at_;
    extended_qualifiers();
    qualifiers();
    while (ok_ && at_ < text_.size() && !take("@")) type_name();
    return name;
  }
  if (take("8")) return name;  // data of the runtime's type information
  if (take("9")) return name;  // a function without a type
  std::string return_type;
  const std::string rest = function_rest(&return_type);
  if (kind == Structor::conversion) name += ' ' + return_type;
  return checked(name + rest);
}

// Reads names that contain another name, or text. Returns nothing, and reads nothing, if the name is of another kind.
std::optional<std::string> MsvcParser::special_symbol() {
  const bool initializer = take("?__E");
  if (initializer || take("?__F")) {
    const std::string what = initializer ? "`dynamic initializer for '" : "`dynamic atexit destructor for '";
    std::string of;
    if (peek() == '?') {
      of = symbol();
      if (!take("@@")) take("@");
    } else {
      bool resolved = false;
      of = qualified(function_name(), resolved);
    }
    return ok_ ? checked(what + of + "''" + function_rest(nullptr)) : std::string();
  }
  if (rest().starts_with("?_C@") || rest().starts_with("?_R") ||
      rest().starts_with("?@")) {
    return fail();  // not a function: a string, type information, a name that was too long and became a hash
  }
  return std::nullopt;
}

std::string MsvcParser::function_name() {
  if (take("?$")) return template_name(false);
  if (take("?")) return operator_name();
  return is_digit(peek()) ? back_name() : simple_name(true);
}

std::string MsvcParser::operator_name() {
  if (take("0")) {
    structor_ = Structor::constructor;
    return {};
  }
  if (take("1")) {
    structor_ = Structor::destructor;
    return {};
  }
  if (take("B")) {
    structor_ = Structor::conversion;
    return "operator";
  }
  if (take("__K")) return "operator \"\"" + simple_name(false);
  for (const auto& [code, name] : kOperators) {
    if (take(code)) return std::string(name);
  }
  return fail();
}

std::string MsvcParser::simple_name(bool memorable) {
  const std::size_t end = text_.find('@', at_);
  if (end == text_.npos || end == at_) return fail();
  std::string name = checked(std::string(text_.substr(at_, end - at_)));
  at_ = end + 1;
  if (memorable) remember(name);
  return name;
}

std::string MsvcParser::back_name() {
  const auto index = static_cast<std::size_t>(peek() - '0');
  if (index >= memory_.names.size()) return fail();
  ++at_;
  return memory_.names[index];
}

// Reads the part behind "?$".
std::string MsvcParser::template_name(bool memorable) {
  const Deeper deeper(*this);
  if (!ok_) return {};
  Memory outer = std::exchange(memory_, {});
  std::string name = take("?") ? operator_name() : simple_name(true);
  if (ok_) name = checked(name + template_arguments());
  memory_ = std::move(outer);
  if (memorable) remember(name);
  return name;
}

// Reads one part of the path to a name. The parts come from the inside out.
std::string MsvcParser::scope() {
  if (is_digit(peek())) return back_name();
  if (take("?$")) return template_name(true);
  if (take("?A")) {
    const std::size_t end = text_.find('@', at_);
    if (end == text_.npos) return fail();
    remember(std::string(text_.substr(at_ - 2, end - at_ + 2)));
    at_ = end + 1;
    return "`anonymous namespace'";
  }
  if (take("?")) {  // inside a function: a number for the block, and the function
    const std::string block = number();
    if (!take("?")) return fail();
    const std::string function = symbol();
    return ok_ ? checked('`' + function + "'::`" + block + '\'') : std::string();
  }
  return simple_name(true);
}

// Reads the scopes behind the first part, up to the "@" that ends them.
std::string MsvcParser::qualified(std::string first, bool& structor_resolved) {
  std::string path;
  while (ok_ && !take("@")) {
    if (at_ >= text_.size()) return fail();
    const std::string part = scope();
    if (!structor_resolved && structor_ != Structor::none && structor_ != Structor::conversion) {
      // A constructor has the name of its class; if it is a template, its own arguments come behind the name.
      first = (structor_ == Structor::destructor ? "~" : "") + part + first;
    }
    structor_resolved = true;
    path = checked(path.empty() ? part : part + "::" + path);
  }
  if (!ok_) return {};
  return checked(path.empty() ? first : path + "::" + first);
}

std::string MsvcParser::type_name() {
  const Deeper deeper(*this);
  if (!ok_) return {};
  const Structor outer = std::exchange(structor_, Structor::none);
  bool resolved = false;
  std::string first = is_digit(peek()) ? back_name() : take("?$") ? template_name(true) : simple_name(true);
  std::string name = qualified(std::move(first), resolved);
  structor_ = outer;
  return name;
}

std::string MsvcParser::template_arguments() {
  std::string list = "<";
  while (ok_ && !take("@")) {
    if (at_ >= text_.size()) return fail();
    // The list of arguments ends, or a pack is empty.
    if (take("$S") || take("$$V") || take("$$$V") || take("$$Z")) continue;
    const std::string argument = template_argument();
    if (list.size() > 1) list += ", ";
    list = checked(list + argument);
  }
  return ok_ ? list + '>' : std::string();
}

std::string MsvcParser::template_argument() {
  const Deeper deeper(*this);
  if (!ok_) return {};
  if (take("$$Y")) return type_name();  // the alias of a template
  if (take("$$B") || peek() != '$' || rest().starts_with("$$")) return type().whole();
  // The argument is a value: it comes behind "$", or for "template <auto>" behind "$M" and its type.
  const bool is_auto = take("$M");
  if (is_auto) type();
  if (!is_auto && !take("$")) return type().whole();
  const char kind = peek();
  ++at_;
  switch (kind) {
    case '0': return number();
    case '1':
    case 'E':
      if (take("@")) return "nullptr";
      return (kind == '1' ? "&" : "") + symbol();
    case 'H':
    case 'I':
    case 'J': {  // a member function's address, with adjustments
      std::string list = '{' + symbol();
      for (int i = kind - 'G'; i > 0 && ok_; --i) list += ", " + number();
      return list + '}';
    }
    default: return fail();
  }
}

// '0' to '9' mean 1 to 10. Other numbers are hexadecimal in the letters A to P, up to "@". "?" means minus.
std::string MsvcParser::number() {
  std::string sign = take("?") ? "-" : "";
  if (is_digit(peek())) return sign + std::to_string(text_[at_++] - '0' + 1);
  std::uint64_t value = 0;
  for (int digits = 0; !take("@"); ++digits, ++at_) {
    const char c = peek();
    if (c < 'A' || c > 'P' || digits == 16) return fail();
    value = value * 16 + static_cast<std::uint64_t>(c - 'A');
  }
  return sign + std::to_string(value);
}

}  // namespace mixwalk
