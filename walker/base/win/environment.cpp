#include "walker/base/environment.h"

#include <cstdlib>

#include "unmanaged/win/utf8.h"

namespace mixwalk {

std::optional<std::string> environment_text(const char* name) {
  const wchar_t* const value = _wgetenv(to_utf16(name).c_str());
  return value == nullptr ? std::nullopt : std::optional(to_utf8(value));
}

}  // namespace mixwalk
