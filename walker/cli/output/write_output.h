#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "walker/base/byte_sink.h"
#include "walker/base/exit_code.h"
#include "walker/base/failure.h"
#include "walker/base/partial_file.h"

namespace mixwalk {

// The failure of a file that cannot be written, or of standard output if there is no path.
Failure unwritable_output(const std::optional<std::string>& path, std::string_view why);

// Calls `write` with the file, and then commits the file. If the file is null, calls `write` with standard output.
// `write` returns false if the sink refused some of the bytes, or if the format has no room for all of the data.
// Returns an empty text if everything was written, otherwise the reason why not.
std::string write_output(PartialFile* file, const std::function<bool(ByteSink&)>& write);

// Writes a text to standard output. If that fails, prints a line that says so.
ExitCode print(std::string_view text);

}  // namespace mixwalk
