#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tests/support/win/child_process.h"

namespace mixwalk {

// Returns what a program of fixtures/ prints up to READY: the names of threads, by id. Returns nothing if the program
// prints something else, or no READY.
std::optional<std::map<std::uint64_t, std::string>> read_until_ready(ChildProcess& program);

// Runs hangs.exe in one of its ways (fixtures/hangs) until it is ready; if it does not get ready, the test case fails.
// .NET is told that every machine has four processors, because their number is the number of workers in .NET's thread
// pool.
struct HangingProgram {
  explicit HangingProgram(const std::string& way);

  std::string id() const { return std::to_string(process.id()); }
  // Returns the id of the thread with this name, or 0 if the program has named no thread so.
  std::uint32_t thread(const std::string& name) const;

  ChildProcess process;
  std::map<std::uint64_t, std::string> names;  // of threads, by id
};

}  // namespace mixwalk
