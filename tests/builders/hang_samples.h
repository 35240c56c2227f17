#pragma once

#include <vector>

#include "walker/model/snapshot.h"

namespace mixwalk::test {

// Programs in trouble, as series of dumps ten seconds apart. The result is the same on every machine.

// Two threads wait for each other's monitors, three wait behind them, and others are idle. Three dumps.
std::vector<Snapshot> deadlocked_program();
// A monitor is held by a thread in native code; a pool is starved; a thread spins; threads are in one P/Invoke. Two
// dumps.
std::vector<Snapshot> troubled_program();
// Threads wait for work, move, and contend for a lock. Two dumps.
std::vector<Snapshot> healthy_program();
// A dump file of a program that wrote to a null pointer in native code below a P/Invoke, with an exception object.
Snapshot crashed_program();
// One deadlock, with names that try to break every format.
std::vector<Snapshot> hostile_program();

}  // namespace mixwalk::test
