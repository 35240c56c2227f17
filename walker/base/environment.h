#pragma once

#include <optional>
#include <string>

namespace mixwalk {

// The value of an environment variable of this process, UTF-8. Returns nothing if it is not set.
std::optional<std::string> environment_text(const char* name);

}  // namespace mixwalk
