#include <cstdlib>
#include <string>

#include "symbols/demangle/demangle.h"
#include "symbols/demangle/managed_name.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

// Any text must be accepted as a name. The demangled text must be bounded.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mixwalk;
  const std::string name(reinterpret_cast<const char*>(data), size);
  const std::string text = demangle(name);
  check(text.size() <= kMaxDemangled || text == name);
  const std::string brief = shortened(text);
  check(brief.size() <= text.size() + 64);
  shortened(name);
  // The function inserts at most the words of an accessor or an operator.
  check(managed_name(name).size() <= 2 * name.size() + 64);
  return 0;
}
