#pragma once

#include <cstddef>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

#include "walker/base/failure.h"

namespace mixwalk {

// The failure ExitCode::input: "cannot read "orders.mixwalk": …".
Failure unreadable_file(const std::string& path, std::string_view why);

// Opens a file for reading. Returns an empty text, or the reason why it cannot be read.
std::string open_input(const std::string& path, std::ifstream& in);

// The bytes of a file, or of a pipe. If `wanted` returns false for the first bytes (1 MiB, or all of a smaller input),
// the rest is not read. An input larger than kMaxInputBytes is a failure.
Outcome<std::string> file_bytes(const std::string& path, const std::function<bool(std::string_view)>& wanted);

inline constexpr std::size_t kMaxInputBytes = std::size_t{2} << 30;

}  // namespace mixwalk
