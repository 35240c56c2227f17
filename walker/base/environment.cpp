#include "walker/base/environment.h"

#include <cstdlib>

namespace mixwalk {

std::optional<std::string> environment_text(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace mixwalk
