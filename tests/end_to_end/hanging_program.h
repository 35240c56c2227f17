#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tests/support/win/child_process.h"

namespace mixwalk {

// What a program of fixtures/ says up to READY: the names of threads, by id. Nothing: it said something else, or no READY.
std::optional<std::map<std::uint64_t, std::string>> read_until_ready(ChildProcess& program);

// hangs.exe in one of its ways (fixtures/hangs), ready. A test case in which it does not get ready fails. .NET sees four
// processors on every machine, which is how many workers its pool of threads has.
struct HangingProgram {
  explicit HangingProgram(const std::string& way);

  std::string id() const { return std::to_string(process.id()); }
  // The id of a thread that the program has named; 0: it has named none so.
  std::uint32_t thread(const std::string& name) const;

  ChildProcess process;
  std::map<std::uint64_t, std::string> names;  // of threads, by id
};

}  // namespace mixwalk
