#pragma once

#include <cstdint>
#include <string>

namespace mixwalk {

// How long the threads of a process were suspended for a dump file, for the line that says that it was written: "stood
// for 38 ms (a clone was written)", "stood for 2.4 s". `cloned`: the process ran while its clone was written.
std::string frozen_words(std::uint64_t nanoseconds, bool cloned);

}  // namespace mixwalk
