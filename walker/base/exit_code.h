#pragma once

namespace mixwalk {

// The exit codes of mixwalk.exe; docs/exit-codes.md is their table. Numbers never change their meaning.
enum class ExitCode : int {
  ok = 0,
  internal = 1,         // a defect of mixwalk itself
  usage = 2,            // the command line is not valid
  no_process = 3,       // no process has that id or name
  not_dotnet = 4,       // the process has no .NET runtime that can be attached to
  already_profiled = 5, // another profiler is attached, or is just leaving
  wrong_bitness = 6,    // a 32-bit process, a dump of one, or a process on ARM64
  no_access = 7,        // the process belongs to another user
  target_exited = 8,    // the process ended while it was being looked at
  not_started = 9,      // the process has not started its runtime yet
  output = 10,          // the output cannot be written
  timeout = 11,         // the target did not answer in time
  refused = 12,         // the runtime refused to load the profiler
  not_launched = 13,    // the program could not be started
  ambiguous = 14,       // several processes have that name
  input = 15,           // the file to convert or symbolise, or the dump, cannot be read or shown this way
  undelivered = 16,     // the collector could not be reached; the profiles that it did not get are kept
  rejected = 17,        // the collector refused profiles for good
  no_memory = 18,       // the target has no memory left for the visit
  no_thread = 19,       // --thread names a thread that does not exist
  stuck = 20,           // compare: something is stuck
  deadlock = 21,        // compare, report: threads wait for each other
  crash = 22,           // compare, report, dump of a dump file: the dump was written because of a crash
};

}  // namespace mixwalk
