#include "walker/clr/tasks/state_machine_name.h"

#include <cstddef>
#include <optional>

namespace mixwalk {
namespace {

constexpr std::string_view kVisualBasic = "VB$StateMachine_";

// Where the last part of a nested type's name begins: behind the last '+' that is in no arguments. Names that compilers
// make have pairs of '<' and '>', too.
std::size_t last_part(std::string_view type) {
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < type.size(); ++i) {
    if (type[i] == '<') ++depth;
    if (type[i] == '>') --depth;
    if (type[i] == '+' && depth == 0) begin = i + 1;
  }
  return begin;
}

// The end of what begins with '<' at the beginning of the text: the index of the '>' that belongs to it; npos if there
// is none.
std::size_t closing(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

struct MachineName {
  std::string_view outer, name, arguments;
  std::string_view part;  // the last part without arguments
};

std::optional<MachineName> parse_machine(std::string_view type) {
  const std::size_t begin = last_part(type);
  MachineName machine{.outer = type.substr(0, begin == 0 ? 0 : begin - 1), .name = {}, .arguments = {},
                  .part = type.substr(begin)};
  std::string_view behind;  // what comes after the name
  if (machine.part.starts_with('<')) {
    const std::size_t end = closing(machine.part);
    if (end == std::string_view::npos) return std::nullopt;
    machine.name = machine.part.substr(1, end - 1);
    behind = machine.part.substr(end + 1);
    if (!behind.starts_with('d')) return std::nullopt;
  } else if (machine.part.starts_with(kVisualBasic)) {
    const std::size_t digits = machine.part.find_first_not_of("0123456789", kVisualBasic.size());
    if (digits == std::string_view::npos || machine.part[digits] != '_') return std::nullopt;
    behind = machine.part.substr(digits + 1);
    machine.name = behind.substr(0, behind.find('<'));
  }
  if (machine.name.empty()) return std::nullopt;
  if (const std::size_t arguments = behind.find('<'); arguments != std::string_view::npos) {
    machine.arguments = behind.substr(arguments);
    machine.part.remove_suffix(machine.arguments.size());
  }
  return machine;
}

}  // namespace

std::string method_of_state_machine(std::string_view type) {
  const auto machine = parse_machine(type);
  if (!machine) return {};
  std::string method(machine->outer);
  if (!method.empty()) method += '.';
  method += machine->name;
  method += machine->arguments;
  return method + "()";
}

bool is_state_machine(std::string_view type) { return parse_machine(type).has_value(); }

bool is_same_machine(std::string_view a, std::string_view b) {
  const auto one = parse_machine(a), other = parse_machine(b);
  const auto outer = [](const MachineName& machine) { return machine.outer.substr(0, machine.outer.find('<')); };
  return one && other && one->part == other->part && outer(*one) == outer(*other);
}

}  // namespace mixwalk
