#pragma once

#include <windows.h>

#include <chrono>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/win/child_process.h"
#include "walker/model/recording.h"

namespace mixwalk {

// One situation of fixtures/hunt, and what must be true for the stacks that mixwalk shows of it.
struct Situation {
  std::string name;        // as hunt.exe knows it
  std::string title = {};  // of the test case, where the same name is there twice
  std::vector<std::pair<std::string, std::string>> environment = {};
  // The least share of whole stacks among the samples of the threads "hunt N".
  double whole = 0.999;
  // Stacks with guessed frames count as whole ones: the code of the situation has no unwind data.
  bool guesses = false;
  // A whole stack of such a thread leads to the thread's own method, and from there to the function where the system
  // starts threads; false where the program runs on other stacks as well.
  bool one_stack = true;
  // Exceptions are recorded in an ordinary run too.
  bool throws = false;
  // Returns what else is wrong with these frames of a whole stack (leaf first), or nothing. Null: not checked.
  std::string (*impossible)(const std::vector<std::string>& frames) = nullptr;
  // Said in the report, where a situation cannot be held to all of the above.
  std::string why = {};
};

void PrintTo(const Situation& situation, std::ostream* out);

// Whether MIXWALK_HUNT_SECONDS asks for more than the ordinary run.
bool is_long_hunt();
// How long each way of looking lasts: 400 ms in an ordinary run, MIXWALK_HUNT_SECONDS for more.
std::chrono::milliseconds hunt_time();
// The same as an option of mixwalk.exe.
std::string hunt_duration();

using Environment = std::vector<std::pair<std::string, std::string>>;

// Environment variables of this process, and so of the programs that it starts, for a while.
class ScopedEnvironment {
 public:
  explicit ScopedEnvironment(const Environment& variables);
  ~ScopedEnvironment();
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

 private:
  std::vector<std::string> names_;
};

// hunt.exe in one situation, ready. It runs until it is told to stop.
class HuntedProgram {
 public:
  explicit HuntedProgram(const Situation& situation);
  // A program of the same protocol.
  explicit HuntedProgram(const std::vector<std::string>& arguments);

  ChildProcess& process() { return process_; }
  std::string id() const { return std::to_string(process_.id()); }
  // Tells the program to stop. Returns its last line, "OK …" where the program found no error in itself; its exit code
  // must agree. Fails the test otherwise, and where the program does not end in time.
  std::string stop();

 private:
  ChildProcess process_;
};

// What was seen of one program, over all visits.
struct Seen {
  std::size_t visits = 0;
  std::size_t samples = 0;  // of threads "hunt N"
  std::size_t whole = 0;
  std::size_t in_dispatcher = 0;  // left out: Wine's dispatcher of system calls is in the stack
  std::map<std::string, std::size_t> gaps;        // by reason
  std::size_t skipped_samples = 0;                // without a stack
  std::map<std::string, std::size_t> skipped;     // the same by reason
  std::map<std::string, std::size_t> impossible;  // by what the situation says of them
  std::vector<std::string> examples;              // of stacks that are not whole
};

// Adds the samples of a recording.
void look_at(const Recording& recording, const Situation& situation, Seen& seen);

// One visit of mixwalk.exe, with "-p ID -o FILE": it must end with exit code 0 in time. `command`: dump or record, with
// its options.
void visit(const std::string& process_id, const std::vector<std::string>& command,
           const Situation& situation, Seen& seen);

// Prints the result, with the last lines of the program and of its control, and checks it against the situation.
void judge(const Situation& situation, const Seen& seen, const std::string& looked_at,
           const std::string& control);

// Records the program every millisecond, dumps it again and again by both engines and records its exceptions, each for
// hunt_time(); an ordinary run leaves some of that to the other situations. The same program runs beside it all the
// time without mixwalk: the control, under the same load. Both must end well.
void hunt(const Situation& situation);

}  // namespace mixwalk
