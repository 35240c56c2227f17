#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "walker/model/recording.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// Names that try to break out of their context: names with a script, a comment, a line end, quotes, a field; names that
// reverse the direction of text, that are 64 KiB long, or that are not UTF-8.
std::vector<std::string> hostile_names();

// representative_snapshot() with two more threads that have the first one's stack and a lock between them, and after
// that a thread for each hostile name. Such a thread's frames, their file and the thread's lock have the same name as
// the thread. The program's path and command line have such names, too.
Snapshot hostile_snapshot();

// hostile_snapshot() with the tasks of add_async_work(), and for each hostile name a chain of two methods that have it,
// and that no thread waits for.
Snapshot hostile_tasks_snapshot();

// hostile_snapshot() three times, ten seconds apart: thread 0x200 moves in the last one, 0x204 is missing in the first,
// 0x1b0 is only in the first.
std::vector<Snapshot> series_of_snapshots();

// Two dumps of hostile_snapshot() in which threads 0x200 and 0x204 wait for each other's monitors.
std::vector<Snapshot> deadlock_snapshots();

// Dumps of four processes of one service, from the files web1.mixwalk to web4.mixwalk: the first two processes hang in
// the same deadlock, the other two have no trouble. Their names are hostile.
std::vector<Snapshot> fleet_snapshots();

// The same, but the second process is another program that runs on .NET 8.
std::vector<Snapshot> mixed_fleet_snapshots();

// Two recordings of one program, before and after a change: Price takes three times as long, Ship half as long, Log is
// gone, and Audit, whose name is hostile, is new. The first lasts eight seconds, the second four. Most threads wait.
std::array<Recording, 2> compared_recordings();

// A large program's dump: stacks of 20 to 60 frames in 300 functions, with 20 different call paths to the leaf; one
// thread in three is in the same place as another one. Each later `moment` differs in one thread of ten. The result is
// the same on every machine.
Snapshot many_threads_snapshot(std::size_t threads, unsigned moment = 0);

}  // namespace mixwalk
