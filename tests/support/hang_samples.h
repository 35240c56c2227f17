#pragma once

#include <vector>

#include "walker/model/snapshot.h"

namespace mixwalk::test {

// Programs in trouble, as series of dumps ten seconds apart. The same on every machine.

// Two threads that wait for each other's monitors, three that wait behind them, and idle ones. Three dumps.
std::vector<Snapshot> deadlocked_program();
// A monitor held by a thread in native code; a starved pool; a thread that spins; threads in one P/Invoke. Two dumps.
std::vector<Snapshot> troubled_program();
// Threads that wait for work, move, and contend for a lock. Two dumps.
std::vector<Snapshot> healthy_program();
// One deadlock, with names that try to break every format.
std::vector<Snapshot> hostile_program();

}  // namespace mixwalk::test
