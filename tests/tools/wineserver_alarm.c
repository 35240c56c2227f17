// Is loaded into Wine's server before everything else (tests/tools/wineserver-alarm), and makes its alarms long.
//
// Folklore: the server reads and sets registers by ptrace, so each GetThreadContext lets it attach to the thread and
// wait for the thread's stop. An alarm of 3 s ends that wait, whatever it has waited for. Real case: if the thread
// stood still for longer (a busy machine, a stalled virtual processor, SIGSTOP), then GetThreadContext failed with
// error 5; or the server took the thread for dead, SuspendThread stopped it no more, and GetThreadContext waited for
// ever; or the stop that came late was passed on, and the whole process stood until SIGCONT. Two threads that suspend,
// read and resume a third one, without mixwalk, hung or failed in 8 of 12 runs with such stalls, and in none with this
// library. hunt_test hung in "moved-threads" during a whole run on a busy machine. Remedy: the alarm comes after 10
// minutes. Tests: wine_server, stalled.
#include <sys/syscall.h>
#include <unistd.h>

unsigned alarm(unsigned seconds) { return (unsigned)syscall(SYS_alarm, seconds == 3 ? 600 : seconds); }
