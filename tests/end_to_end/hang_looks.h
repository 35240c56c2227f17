#pragma once

#include <string>

#include "walker/base/exit_code.h"

namespace mixwalk {

// Starts `hangs.exe --way WAY` (fixtures/hangs) and looks at it from outside, from inside and by a dump file that mixwalk
// wrote, so that the last dump that mixwalk compare gets is each of them in turn. Expects this exit code, the golden text
// in the first lines, and the same in the HTML page.
//
// The golden text is tests/golden/hangs-WAY.txt. Threads are called by the names that the program gives them; addresses,
// times and lines of source are left out. Where another way of looking cannot say the same, hangs-WAY-outside.txt has
// what it says from outside and by a dump file, and hangs-WAY-dump-file.txt what it says by a dump file:
// - only mixwalk.dll learns what the stub of a P/Invoke, a COM call or a callback leads to;
// - a dump file that is written under Wine has no processor times, so that nothing spins there. A note says so.
void expect_hang(const std::string& way, ExitCode code);

}  // namespace mixwalk
