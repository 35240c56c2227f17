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

// The failure of a file that cannot be written, or (no path) of standard output.
Failure unwritable_output(const std::optional<std::string>& path, std::string_view why);

// Has `write` write to the file, which is committed, or (null) to standard output. `write` returns false where the sink
// refused some of it, or the format has no room for all of it. Is empty if everything was written; otherwise the reason
// why not.
std::string write_output(PartialFile* file, const std::function<bool(ByteSink&)>& write);

// Writes a text to standard output. Where that fails, a line says so.
ExitCode print(std::string_view text);

}  // namespace mixwalk
