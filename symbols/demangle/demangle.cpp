#include "symbols/demangle/demangle.h"

#include <cstdlib>
#include <memory>

#include "symbols/demangle/itanium.h"
#include "symbols/demangle/limited_output.h"
//
#include "llvm/Demangle/Demangle.h"

namespace mixwalk {
namespace {

std::string demangle_rust(std::string_view name) {
  const std::unique_ptr<char, void (*)(void*)> text(llvm::rustDemangle(name), std::free);
  return text == nullptr ? std::string() : std::string(text.get());
}

}  // namespace

std::string demangle(std::string_view name) {
  if (name.size() > kMaxDemangled) return std::string(name);
  DemangleWork::begin();
  std::string text;
  try {
    if (name.starts_with("_Z")) text = demangle_itanium(name);
    if (name.starts_with("_R")) text = demangle_rust(name);
    if (name.starts_with('?')) text = demangle_msvc(name);
  } catch (const TooMuchWork&) {
    // The name stays as it is.
  }
  return text.empty() ? std::string(name) : text;
}

bool may_name_code(std::string_view name) {
  // Constants that MSVC's compiler merges: numbers, and what vector registers hold.
  for (const std::string_view constant : {"__real@", "__xmm@", "__ymm@", "__zmm@"}) {
    if (name.starts_with(constant)) return false;
  }
  if (!name.starts_with('?')) return true;
  DemangleWork::begin();
  try {
    return is_msvc_function(name);
  } catch (const TooMuchWork&) {
    return false;
  }
}

}  // namespace mixwalk
