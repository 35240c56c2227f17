#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "walker/model/recording.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// Names that try to end what they stand in: a script, a comment, a line, quotes, a field; that turn the line round;
// that are 64 KiB long; that are no UTF-8.
std::vector<std::string> hostile_names();

// representative_snapshot() with two threads more that are called with a lock between them, and after that a thread
// of each hostile name, which is also that of its frames, its file, its lock and the program.
Snapshot hostile_snapshot();

// hostile_snapshot() three times, ten seconds apart: thread 0x200 goes on in the last one, 0x204 is not in the first,
// 0x1b0 is in the first only.
std::vector<Snapshot> series_of_snapshots();

// Two dumps of hostile_snapshot() in which threads 0x200 and 0x204 wait for each other's monitors.
std::vector<Snapshot> deadlock_snapshots();

// Dumps of four processes of one service, each of a file web1.mixwalk to web4.mixwalk: the first two hang in the same
// deadlock, the third and the fourth are well. Names in them are hostile.
std::vector<Snapshot> fleet_snapshots();

// Two recordings of one program, before and after a change: Price takes three times as long, Ship half as long, Log is
// gone and Audit, whose name is hostile, is new. Eight seconds, and four. Most threads wait.
std::array<Recording, 2> compared_recordings();

// A large program's dump: stacks of 20 to 60 frames in 300 functions, of which 20 ways lead to the leaf; a thread in
// three stands where another one does. `moment`: later ones differ in a thread of ten. The same on every machine.
Snapshot many_threads_snapshot(std::size_t threads, unsigned moment = 0);

}  // namespace mixwalk
