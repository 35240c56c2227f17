#pragma once

#include <cerrno>
#include <string>
#include <system_error>

namespace mixwalk {

// Returns what `error` means, in words; by default, why the last call of the C library failed.
inline std::string errno_text(int error = errno) {
  return error == 0 ? "unknown error" : std::generic_category().message(error);
}

}  // namespace mixwalk
