#pragma once

namespace mixwalk {

// Held while a thread of another process is suspended. Ctrl-C, Ctrl-Break and the closing of the console end a program
// from a separate thread, at any point of the other threads' work. A thread that mixwalk.exe had suspended would then
// stay suspended for ever. So the console's event waits for the gate, and for a second after the event the gate admits
// no further suspension. When that second is over, the program has ended, or it continues. The gate does not help
// against TerminateProcess; the watcher does (suspension_watcher.h). One suspension at a time.
class SuspensionGate {
 public:
  SuspensionGate() noexcept;
  ~SuspensionGate();
  SuspensionGate(const SuspensionGate&) = delete;
  SuspensionGate& operator=(const SuspensionGate&) = delete;
};

}  // namespace mixwalk
