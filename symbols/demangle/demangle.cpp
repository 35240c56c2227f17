#include "symbols/demangle/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "symbols/demangle/itanium_length.h"

namespace mixwalk {
namespace {

// In characters. The estimate is some ten times too high for ordinary names; demangling a name of this length takes a
// tenth of a second.
constexpr std::size_t kMaxEstimate = 16 * kMaxDemangled;

// The result is empty if the text is not such a name.
std::string demangle_itanium(const std::string& name) {
  if (itanium_length(name) > kMaxEstimate) return {};
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text != nullptr ? std::string(text.get()).substr(0, kMaxDemangled) : std::string();
}

}  // namespace

std::string demangle(std::string_view name) {
  std::string text;
  if (name.size() > kMaxDemangled) return std::string(name);
  if (name.starts_with("_Z")) text = demangle_itanium(std::string(name));
  if (name.starts_with('?')) text = demangle_msvc(name);
  return text.empty() ? std::string(name) : text;
}

}  // namespace mixwalk
