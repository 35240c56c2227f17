#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "walker/base/failure.h"

namespace mixwalk {

// A process and its name, as the command line has them. Pure, and portable; not frozen-safe.

struct ProcessEntry {
  std::uint32_t id = 0;
  std::string name;  // the name of its image, UTF-8: "orders.exe"
};

// The only process of that name, .NET or not. `name` is that of the image, with or without ".exe" and folder, in any
// case. A failure says what the user presumably meant.
Outcome<std::uint32_t> process_named(const std::vector<ProcessEntry>& processes, const std::string& name);

// "no process with id 4711: …"
Failure no_process_with(std::uint32_t id);

}  // namespace mixwalk
