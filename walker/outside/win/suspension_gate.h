#pragma once

namespace mixwalk {

// Held while a thread of another process stands. Ctrl-C, Ctrl-Break and the closing of the console end a program
// from a thread of their own, in the middle of whatever the others do; a thread that mixwalk.exe had suspended
// would stand for ever. So the console's event waits for the gate, and the gate opens to no further suspension
// for a second: by then the program has ended, or goes on. Against TerminateProcess
// there is the watcher (suspension_watcher.h). One suspension at a time.
class SuspensionGate {
 public:
  SuspensionGate() noexcept;
  ~SuspensionGate();
  SuspensionGate(const SuspensionGate&) = delete;
  SuspensionGate& operator=(const SuspensionGate&) = delete;
};

}  // namespace mixwalk
