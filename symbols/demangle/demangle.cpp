#include "symbols/demangle/demangle.h"

#include <algorithm>

#include "symbols/demangle/itanium.h"
#include "symbols/demangle/limited_output.h"
#include "symbols/demangle/rust.h"

namespace mixwalk {
namespace {

// Subtracts what the last name has cost.
void spend(std::string_view name, std::size_t& budget) {
  budget -= std::min(budget, DemangleWork::done() + name.size());
}

}  // namespace

std::string demangle(std::string_view name) {
  if (name.size() > kMaxDemangled) return std::string(name);
  DemangleWork::begin();
  std::string text;
  try {
    if (name.starts_with("_ZN")) text = demangle_legacy_rust(name);
    if (name.starts_with("_Z") && text.empty()) text = demangle_itanium(name);
    if (name.starts_with("_R")) text = demangle_rust(name);
    if (name.starts_with('?')) text = demangle_msvc(name);
  } catch (const TooMuchWork&) {
    // The name stays as it is.
  }
  return text.empty() ? std::string(name) : text;
}

std::string demangle(std::string_view name, std::size_t& budget) {
  if (budget == 0) return std::string(name);
  std::string text = demangle(name);
  spend(name, budget);
  return text;
}

namespace {

// Returns where the list of parameters begins, or npos if there is none.
std::size_t parameters_of(std::string_view demangled) noexcept {
  std::size_t open = 0;
  for (std::size_t i = demangled.rfind(')') + 1; i-- != 0;) {
    if (demangled[i] == ')') ++open;
    if (demangled[i] == '(' && --open == 0) return i;
  }
  return demangled.npos;
}

// Takes the last character that is not a space, or an anonymous namespace in either form, which counts as one
// character.
int take_last(std::string_view& text) noexcept {
  while (text.ends_with(' ')) text.remove_suffix(1);
  for (const std::string_view name : {"(anonymous namespace)", "`anonymous namespace'"}) {
    if (!text.ends_with(name)) continue;
    text.remove_suffix(name.size());
    return -1;
  }
  const char last = text.back();
  text.remove_suffix(1);
  return static_cast<unsigned char>(last);
}

}  // namespace

bool is_function_named(std::string_view demangled, std::string_view plain) noexcept {
  const std::size_t parameters = parameters_of(demangled);
  if (parameters == demangled.npos || plain.find_first_not_of(' ') == plain.npos) return false;
  std::string_view name = demangled.substr(0, parameters);
  plain.remove_prefix(plain.find_first_not_of(' '));
  while (!plain.empty()) {
    if (name.find_first_not_of(' ') == name.npos || take_last(name) != take_last(plain)) return false;
  }
  return name.empty() || name.ends_with(' ');
}

bool may_name_code(std::string_view name, std::size_t& budget) {
  // Constants that MSVC's compiler merges: numbers, and what vector registers hold.
  for (const std::string_view constant : {"__real@", "__xmm@", "__ymm@", "__zmm@"}) {
    if (name.starts_with(constant)) return false;
  }
  if (!name.starts_with('?')) return true;
  if (budget == 0) return false;
  bool is_function = false;
  DemangleWork::begin();
  try {
    is_function = is_msvc_function(name);
  } catch (const TooMuchWork&) {
    // It cannot be read.
  }
  spend(name, budget);
  return is_function;
}

}  // namespace mixwalk
