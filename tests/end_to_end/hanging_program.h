#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "tests/support/win/child_process.h"
#include "walker/hang/findings.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// How many pairs of neighbouring dumps a test compares (MIXWALK_PAIRS), and the time between two dumps in milliseconds
// (MIXWALK_EVERY_MS).
std::size_t wanted_pairs(std::size_t ordinary);
int wanted_every_ms(int ordinary);
// Compares each two and each three neighbouring dumps of one process. `look` gets the dumps and what is found in them.
void compare_neighbours(std::span<const Snapshot> dumps,
                        const std::function<void(std::span<const Snapshot>, const Findings&)>& look);

// Returns what a program of fixtures/ prints up to READY: the names of threads, by id. Returns nothing if the program
// prints something else, or no READY.
std::optional<std::map<std::uint64_t, std::string>> read_until_ready(ChildProcess& program);

// Tells Wine to run desktop.exe as on Windows 8.1 (fixtures/README.md). On Windows this does nothing.
void prepare_desktop();

// Runs hangs.exe in one of its ways (fixtures/hangs), or another program that is used like it, until it is ready; if it
// does not get ready, the test case fails.
// .NET is told that every machine has four processors, because their number is the number of workers in .NET's thread
// pool.
struct HangingProgram {
  // It ends by itself after so many seconds.
  explicit HangingProgram(const std::string& way, int seconds = 300, const std::string& program = "hangs.exe");

  std::string id() const { return std::to_string(process.id()); }
  // Returns the id of the thread with this name, or 0 if the program has named no thread so.
  std::uint32_t thread(const std::string& name) const;

  ChildProcess process;
  std::map<std::uint64_t, std::string> names;  // of threads, by id
};

}  // namespace mixwalk
