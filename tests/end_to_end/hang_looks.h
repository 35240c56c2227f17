#pragma once

#include <set>
#include <string>

#include "walker/base/exit_code.h"

namespace mixwalk {

// Starts `hangs.exe --way WAY` (fixtures/hangs) and walks it in three ways: from outside, from inside and by a dump
// file that mixwalk wrote. Each way is used for the last of the dumps that mixwalk compare gets. Expects this exit
// code, the golden text in the first lines, and, for the dumps from outside, the same in the HTML page.
//
// The golden text is tests/golden/hangs-WAY.txt. Threads are identified by the names that the program gives them;
// addresses, times and lines of source are left out. hangs-WAY-dump-file.txt is the expected text for a dump file,
// where that differs: a dump file that is written under Wine has no processor times, so no thread is found spinning. A
// note says so.
//
// A runtime that ends `takes_profilers` no more, and then there is no walk from inside.
//
// With MIXWALK_PAIRS (hanging_program.h), only the verdict is compared: that of each two and of each three neighbouring
// dumps, in a series of dumps from outside, one from inside and one of dump files.
void expect_hang(const std::string& way, ExitCode code, bool takes_profilers = true);

enum class Look { outside, inside, dump_file };

// The same, with more choices.
struct HangCase {
  // Several ways of one program are joined by "+". Then the findings must be those of the golden texts of all these
  // ways, in any order.
  std::string way;
  std::string program = "hangs.exe";
  ExitCode code = ExitCode::deadlock;
  // The golden text is that of this way, if it is another one than that of `way`.
  std::string golden = {};
  std::set<Look> looks = {Look::outside, Look::inside, Look::dump_file};
  // What `dump --async` lists of the running program. If it is not empty, `report` is run for the program as well, and
  // must find the same.
  std::string listed_tasks = {};
};
void expect_hang(const HangCase& hang);

}  // namespace mixwalk
