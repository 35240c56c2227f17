#pragma once

#include <windows.h>

#include <chrono>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/win/child_process.h"
#include "tests/support/win/scoped_environment.h"
#include "walker/model/recording.h"

namespace mixwalk {

// One situation of fixtures/hunt, and what must be true for the stacks that mixwalk shows of the situation.
struct Situation {
  std::string name;        // the name that hunt.exe knows
  std::string title = {};  // of the test case, if the same name occurs twice
  std::vector<std::pair<std::string, std::string>> environment = {};
  // The number of threads "hunt N" (the table in fixtures/hunt/Program.cs).
  std::size_t threads = 2;
  // The least share of whole stacks among the samples of the threads "hunt N".
  double whole = 0.999;
  // Stacks with guessed frames count as whole ones, because the code of the situation has no unwind data.
  bool guesses = false;
  // A whole stack of such a thread leads to the thread's own method, and from there to the function where the system
  // starts threads. Must be false if the program also runs on other stacks.
  bool one_stack = true;
  // Exceptions are recorded also in an ordinary run.
  bool throws = false;
  // Returns what else is wrong with the frames of a whole stack (leaf first), or nothing. If null, this is not checked.
  std::string (*impossible)(const std::vector<std::string>& frames) = nullptr;
  // The reason that the report prints if a situation cannot fulfil all of the above.
  std::string why = {};
};

void PrintTo(const Situation& situation, std::ostream* out);

// Whether MIXWALK_HUNT_SECONDS requests more than the ordinary run.
bool is_long_hunt();
// How long each kind of visit lasts: 250 ms in an ordinary run, MIXWALK_HUNT_SECONDS for more.
std::chrono::milliseconds hunt_time();
// Returns the same time as an option of mixwalk.exe.
std::string hunt_duration();

// Runs hunt.exe in one situation until it is ready. The program runs until it is told to stop. Its threads rest between
// their rounds, so that the tests beside it get processor time, but not in a long hunt.
class HuntedProgram {
 public:
  explicit HuntedProgram(const Situation& situation);
  // Starts another program that uses the same protocol.
  explicit HuntedProgram(const std::vector<std::string>& arguments, const Environment& environment = {});

  ChildProcess& process() { return process_; }
  std::string id() const { return std::to_string(process_.id()); }
  // Tells the program to stop. Returns its last line, which is "OK …" if the program found no error in itself; its exit
  // code must agree with the line. If it does not agree, or the program does not end in time, the test fails.
  std::string stop();

 private:
  ChildProcess process_;
};

// What was found in one program, over all visits.
struct Seen {
  std::size_t visits = 0;
  std::size_t samples = 0;  // of the threads "hunt N"
  std::size_t whole = 0;
  std::size_t in_dispatcher = 0;  // left out, because Wine's dispatcher of system calls is in the stack
  std::map<std::string, std::size_t> gaps;        // by reason
  std::size_t skipped_samples = 0;                // without a stack
  std::map<std::string, std::size_t> skipped;     // the same, by reason
  std::map<std::string, std::size_t> impossible;  // by the text that the situation's check returned
  std::vector<std::string> examples;              // of stacks that are not whole
};

// Runs one visit of mixwalk.exe, with "-p ID -o FILE", and adds its samples. The visit must end with exit code 0 in
// time, and a dump must show each thread of the situation. `command` is dump or record, with its options. Returns what
// was recorded; nothing after a failure.
Recording visit(const std::string& process_id, const std::vector<std::string>& command,
                const Situation& situation, Seen& seen);

// Prints the result, with the last lines of the program and of its control, and checks it against the situation.
void judge(const Situation& situation, const Seen& seen, const std::string& looked_at,
           const std::string& control);

// Records the program every millisecond, dumps it again and again by both engines and records its exceptions, each for
// hunt_time(). The program must end well. In a long hunt the same program runs beside the first one all the time
// without mixwalk, as a control under the same load, and must end well too. An ordinary run does only a part of the
// visits, and runs the control only after a failure, to tell whether the program fails by itself.
void hunt(const Situation& situation);

}  // namespace mixwalk
