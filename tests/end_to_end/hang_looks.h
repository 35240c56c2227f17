#pragma once

#include <string>

#include "walker/base/exit_code.h"

namespace mixwalk {

// Starts `hangs.exe --way WAY` (fixtures/hangs) and looks at it from outside, from inside and by a dump file that mixwalk
// wrote, so that the last dump that mixwalk compare gets is each of them in turn. Expects this exit code, the golden text
// in the first lines, and the same in the HTML page.
//
// The golden text is tests/golden/hangs-WAY.txt. Threads are called by the names that the program gives them; addresses,
// times and lines of source are left out. hangs-WAY-dump-file.txt has what a dump file says, where that is something else:
// one that is written under Wine has no processor times, so that nothing spins there. A note says so.
void expect_hang(const std::string& way, ExitCode code);

}  // namespace mixwalk
