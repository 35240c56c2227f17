#include "symbols/demangle/managed_name.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "symbols/demangle/managed_types.h"
#include "unmanaged/joined.h"

namespace mixwalk {
namespace {

// In characters. The runtime gives no names of more than 1,024 characters, except generic ones.
constexpr std::size_t kMaxName = 16 * 1024;
constexpr int kMaxHosts = 8;  // a lambda in a local function in …
constexpr auto npos = std::string_view::npos;

constexpr std::array<std::pair<std::string_view, std::string_view>, 51> kOperators = {{
    {"op_Addition", "+"}, {"op_BitwiseAnd", "&"}, {"op_BitwiseOr", "|"}, {"op_Decrement", "--"},
    {"op_Division", "/"}, {"op_Equality", "=="}, {"op_ExclusiveOr", "^"}, {"op_False", "false"},
    {"op_GreaterThan", ">"}, {"op_GreaterThanOrEqual", ">="}, {"op_Increment", "++"}, {"op_Inequality", "!="},
    {"op_LeftShift", "<<"}, {"op_LessThan", "<"}, {"op_LessThanOrEqual", "<="}, {"op_LogicalNot", "!"},
    {"op_Modulus", "%"}, {"op_Multiply", "*"}, {"op_OnesComplement", "~"}, {"op_RightShift", ">>"},
    {"op_Subtraction", "-"}, {"op_True", "true"}, {"op_UnaryNegation", "-"}, {"op_UnaryPlus", "+"},
    {"op_UnsignedRightShift", ">>>"}, {"op_CheckedAddition", "checked +"},
    {"op_CheckedSubtraction", "checked -"}, {"op_CheckedMultiply", "checked *"}, {"op_CheckedDivision", "checked /"},
    {"op_CheckedIncrement", "checked ++"}, {"op_CheckedDecrement", "checked --"},
    {"op_CheckedUnaryNegation", "checked -"},
    // C# 14: operators that change the instance.
    {"op_AdditionAssignment", "+="}, {"op_SubtractionAssignment", "-="}, {"op_MultiplicationAssignment", "*="},
    {"op_DivisionAssignment", "/="}, {"op_ModulusAssignment", "%="}, {"op_BitwiseAndAssignment", "&="},
    {"op_BitwiseOrAssignment", "|="}, {"op_ExclusiveOrAssignment", "^="}, {"op_LeftShiftAssignment", "<<="},
    {"op_RightShiftAssignment", ">>="}, {"op_UnsignedRightShiftAssignment", ">>>="},
    {"op_IncrementAssignment", "++"}, {"op_DecrementAssignment", "--"},
    {"op_CheckedAdditionAssignment", "checked +="}, {"op_CheckedSubtractionAssignment", "checked -="},
    {"op_CheckedMultiplicationAssignment", "checked *="}, {"op_CheckedDivisionAssignment", "checked /="},
    {"op_CheckedIncrementAssignment", "checked ++"}, {"op_CheckedDecrementAssignment", "checked --"},
}};

// A part of a name between '.' and '+'. In a part that the compiler invented, "<Main>b__0_0<T>", the text in the angle
// brackets is the part's host, and the rest is its kind.
struct Part {
  std::string_view text;       // without arguments
  std::string_view arguments;  // with their brackets
  bool generated = false;
  std::string_view host, kind;
};

Part make_part(std::string_view text) {
  Part part;
  std::size_t name_begin = 0;
  if (text.starts_with('<')) {
    const std::size_t end = closing_angle(text);
    part.generated = true;
    part.host = text.substr(1, end - 1);
    name_begin = end + 1;
  }
  const std::size_t arguments = std::min(text.find('<', name_begin), text.size());
  part.text = text.substr(0, arguments);
  part.arguments = text.substr(arguments);
  part.kind = part.text.substr(std::min(name_begin, part.text.size()));
  return part;
}

// "A.B+<C>d__0.MoveNext" → its parts. Returns nothing if the brackets do not match. Beside a space, and behind the last
// dot, a plus is a character of the method's name: F# has names such as "Tests.2 + 2 is 4" and "Tests.1 + 1.5 is 2.5".
std::optional<std::vector<Part>> split(std::string_view head) {
  const std::size_t last_dot = std::min(head.rfind('.'), head.size());
  const auto separates_types = [&](std::size_t plus) {
    return plus != 0 && plus + 1 < last_dot && head[plus - 1] != ' ' && head[plus + 1] != ' ';
  };
  std::vector<Part> parts;
  std::size_t begin = 0, i = 0;
  for (; i < head.size(); ++i) {
    if (head[i] == '<') {
      const std::size_t end = closing_angle(head.substr(i));
      if (end == npos) return std::nullopt;
      i += end;
    } else if (head[i] == '>') {
      return std::nullopt;
    } else if ((head[i] == '.' || (head[i] == '+' && separates_types(i))) && i != begin) {
      parts.push_back(make_part(head.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  parts.push_back(make_part(head.substr(begin)));
  return parts;
}

bool is_closure(const Part& part) {
  return part.generated && part.host.empty() && (part.kind == "c" || part.kind.starts_with("c__"));
}

// "c__DisplayClass3_0" → "3". The result is empty if the kind is not that of a closure.
std::string_view method_of_closure(std::string_view kind) {
  constexpr std::string_view kDisplay = "c__DisplayClass";
  if (!kind.starts_with(kDisplay)) return {};
  kind.remove_prefix(kDisplay.size());
  return kind.substr(0, std::min(kind.find('_'), kind.size()));
}

class Writer {
 public:
  explicit Writer(std::vector<std::string> parameters) : parameters_(std::move(parameters)) {}

  bool write(const std::vector<Part>& parts) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool last = i + 1 == parts.size();
      const Part& part = parts[i];
      if (is_closure(part) && !last && parts[i + 1].generated && !parts[i + 1].host.empty()) {
        method_ = method_of_closure(part.kind);
        continue;
      }
      const bool machine = part.generated && !last && is_state_machine(part);
      if (machine) {
        if (!host(part.host, true, 0)) return false;
      } else if (part.generated) {
        if (!generated(part, last)) return false;
      } else if (last) {
        method(part.text, true, part.arguments.empty());
      } else {
        write_type(part.text);
      }
      if (!arguments(part.arguments)) return false;
      // The code in MoveNext is the code of the method itself.
      if (machine && i + 2 == parts.size() && parts[i + 1].text == "MoveNext") break;
    }
    return true;
  }

  std::string text() const { return joined(pieces_, ".") + '(' + joined(parameters_, ", ") + ')'; }

 private:
  static bool is_state_machine(const Part& part) {
    return !part.host.empty() && (part.kind == "d" || part.kind.starts_with("d__"));
  }

  void write_type(std::string_view name) {
    pieces_.emplace_back(name);
    type_ = name;
  }

  bool arguments(std::string_view text) {
    if (text.empty()) return true;
    const auto types = csharp_types(text.substr(1, text.size() - 2));
    if (!types || pieces_.empty()) return false;
    pieces_.back() += '<' + joined(*types, ", ") + '>';
    return true;
  }

  // Handles lambdas and local functions. Other parts that the compiler invents have no name in C#.
  bool generated(const Part& part, bool last) {
    if (!part.host.empty() && (part.kind.starts_with("b__") || part.kind.starts_with("g__"))) {
      if (!host(part.host, false, 0)) return false;
      inner(part.kind);
      return true;
    }
    if (last) {
      pieces_.emplace_back(part.text);
    } else {
      write_type(part.text);
    }
    return true;
  }

  void inner(std::string_view kind) {
    const bool lambda = kind.starts_with("b__");
    kind.remove_prefix(3);
    if (!lambda) {
      pieces_.emplace_back(kind.substr(0, kind.find('|')));
    } else if (kind.find('_') == npos && !method_.empty()) {
      pieces_.push_back("AnonymousMethod__" + std::string(method_) + '_' + std::string(kind));
    } else {
      pieces_.push_back("AnonymousMethod__" + std::string(kind));
    }
  }

  // Handles the method for which the compiler made something: "Main", ".ctor", or a method that is itself invented,
  // "<Main>b__0_0". In the name of a state machine's type, dots are replaced by dashes.
  bool host(std::string_view name, bool of_state_machine, int depth) {
    if (depth > kMaxHosts) return false;
    if (name.starts_with('<')) {
      const Part part = make_part(name);
      const bool nested = part.kind.starts_with("b__") || part.kind.starts_with("g__");
      if (nested && !part.host.empty()) {
        if (!host(part.host, of_state_machine, depth + 1)) return false;
        inner(part.kind);
        return true;
      }
    }
    std::string plain(name);
    if (of_state_machine) std::ranges::replace(plain, '-', '.');
    method(plain, false, true);
    return true;
  }

  // `itself` is false for the host of another method; the host's parameters are not known.
  void method(std::string_view name, bool itself, bool may_be_accessor) {
    const bool made_up_type = type_.empty() || type_.front() == '<';
    if (name == ".ctor" && !made_up_type) {
      pieces_.emplace_back(type_);
    } else if (name == ".cctor" && !made_up_type) {
      pieces_.push_back("static " + std::string(type_));
    } else if (itself && name == "Finalize" && parameters_.empty() && !made_up_type) {
      pieces_.push_back('~' + std::string(type_));
    } else if (name.starts_with("op_")) {
      pieces_.push_back(operator_name(name));
    } else if (!may_be_accessor || !accessor(name, itself)) {
      pieces_.emplace_back(name);
    }
  }

  static std::string operator_name(std::string_view name) {
    if (name == "op_Implicit") return "implicit operator";
    if (name == "op_Explicit") return "explicit operator";
    if (name == "op_CheckedExplicit") return "explicit operator checked";
    const auto found = std::ranges::find(kOperators, name, &decltype(kOperators)::value_type::first);
    return found == kOperators.end() ? std::string(name) : "operator " + std::string(found->second);
  }

  // C# methods may have such names as well, but only an event's accessor takes a handler and nothing else. Types that
  // have no capital letter are C#'s own (int, string[]), and no handlers.
  bool has_parameters_of(std::string_view verb) const {
    if (verb == "get") return true;
    if (verb == "set") return !parameters_.empty();
    return parameters_.size() == 1 && std::ranges::any_of(parameters_.front(), is_capital);
  }
  static bool is_capital(char c) noexcept { return c >= 'A' && c <= 'Z'; }

  // "IOrders.get_Name": the name of an explicit implementation begins with its interface. If the name is that of the
  // method itself, the interface is in other parts. "get_name" is rather a method of a language that writes names so
  // (F#, C++/CLI), and as the name of an accessor it is also right. So is "get_ the order", which F# allows.
  bool accessor(std::string_view name, bool itself) {
    const std::size_t dot = name.rfind('.');
    const std::size_t begin = dot == npos ? 0 : dot + 1;
    const std::string_view bare = name.substr(begin);
    for (const std::string_view verb : {"get", "set", "add", "remove"}) {
      if (bare.size() <= verb.size() + 1 || !bare.starts_with(verb) || bare[verb.size()] != '_') continue;
      const std::string_view property = bare.substr(verb.size() + 1);
      const char first = property.front();
      if (first == ' ' || (first >= 'a' && first <= 'z') || (itself && !has_parameters_of(verb))) return false;
      const std::size_t indices = parameters_.size() - (verb == "set" && !parameters_.empty() ? 1 : 0);
      if (itself && property == "Item" && indices != 0) {
        const std::vector<std::string> types(parameters_.begin(),
                                             parameters_.begin() + static_cast<std::ptrdiff_t>(indices));
        pieces_.push_back(std::string(name.substr(0, begin)) + "this[" + joined(types, ", ") + ']');
      } else {
        pieces_.push_back(std::string(name.substr(0, begin)) + std::string(property));
      }
      pieces_.emplace_back(verb);
      return true;
    }
    return false;
  }

  std::vector<std::string> pieces_;
  std::vector<std::string> parameters_;
  std::string_view type_;    // the name of the innermost type, without arguments
  std::string_view method_;  // the number of the method to which the closure belongs
};

// Returns where the list of parameters begins at the end of a name, or npos if there is none.
std::size_t find_parameters(std::string_view name) {
  if (!name.ends_with(')')) return npos;
  std::size_t open = 0;
  for (std::size_t i = name.size(); i-- != 0;) {
    if (name[i] == ')') ++open;
    if (name[i] == '(' && --open == 0) return i;
  }
  return npos;
}

// Removes what the compiler puts before the name of a file-local type: "<Orders>F", a hash of the file's path as 64
// digits, and "__".
//
// Folklore: the hash is of the path on the machine that built the program. Real case: two builds of the same source
// gave two names to a frame in a class that the COM source generator writes, so a golden file of one machine differed
// on the next. Test: ManagedName.FileLocalTypesHaveTheNameInTheSource.
std::string without_files(std::string_view name) {
  constexpr std::size_t kDigits = 64;
  std::string text;
  for (std::size_t close = name.find(">F"); close != npos; close = name.find(">F")) {
    const std::size_t digits = close + 2, end = digits + kDigits;
    const std::size_t open = name.find_last_of("<>", close - 1);
    const bool file = close != 0 && open != npos && name[open] == '<' &&
                      name.substr(std::min(end, name.size())).starts_with("__") &&
                      name.substr(digits, kDigits).find_first_not_of("0123456789ABCDEF") == npos;
    text += name.substr(0, file ? open : digits);
    name.remove_prefix(file ? end + 2 : digits);
  }
  return text += name;
}

}  // namespace

std::string managed_name(std::string_view name) {
  if (name.size() > kMaxName) return std::string(name);
  const std::string text = without_files(name);
  const std::string_view view = text;
  const std::size_t begin = find_parameters(view);
  if (begin == npos || begin == 0) return std::string(name);
  auto parameters = csharp_types(view.substr(begin + 1, view.size() - begin - 2));
  const auto parts = split(view.substr(0, begin));
  if (!parameters || !parts) return std::string(name);
  Writer writer(std::move(*parameters));
  return writer.write(*parts) ? writer.text() : std::string(name);
}

}  // namespace mixwalk
