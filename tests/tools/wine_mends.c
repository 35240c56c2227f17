// tests/tools/wine loads this library into Wine's server and into each program before everything else. It mends two
// faults of Wine.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/membarrier.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// Folklore: the server reads and sets registers by ptrace, so each GetThreadContext lets it attach to the thread and
// wait for the thread's stop. An alarm of 3 s ends that wait, whatever it has waited for. Real case: if the thread
// stood still for longer (a busy machine, a stalled virtual processor, SIGSTOP), then GetThreadContext failed with
// error 5; or the server took the thread for dead, SuspendThread stopped it no more, and GetThreadContext waited for
// ever; or the stop that came late was passed on, and the whole process stood until SIGCONT. Two threads that suspend,
// read and resume a third one, without mixwalk, hung or failed in 8 of 12 runs with such stalls, and in none with this
// library. hunt_test hung in "moved-threads" during a whole run on a busy machine. Remedy: the alarm comes after 10
// minutes. Tests: wine_server, stalled.
unsigned alarm(unsigned seconds) { return (unsigned)syscall(SYS_alarm, seconds == 3 ? 600 : seconds); }

// Folklore: FlushProcessWriteBuffers of Wine 8 does nothing. .NET relies on it when a GC begins: a thread writes "I use
// objects" and then reads "a GC begins", without a barrier; the GC writes "a GC begins", calls this function, and then
// reads what the threads have written. If the function does nothing, both can miss the other's write, and the GC moves
// objects that the thread uses. Real case: two threads that do the same, without .NET and without mixwalk, each missed
// the other's write in 7,524 of 100,000 rounds, and in none with this library. Very likely also: once in hundreds of
// runs, torture.exe ended with a NullReferenceException in Thread.StartCallback, which read 0x20, the place of
// _startHelper in a Thread: a GC had taken the object of a thread that was about to begin for a dead one. Remedy: the
// function makes the kernel's call for this purpose. Test: WriteBuffers.
//
// The system call is made here, since libc's function sets errno, and this is called on a stack of Wine's. The call
// cannot fail, since dlopen() below has registered the process for it.
static int64_t __attribute__((ms_abi)) flush_write_buffers(void) {
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"((long)SYS_membarrier), "D"((long)MEMBARRIER_CMD_PRIVATE_EXPEDITED), "S"(0L), "d"(0L)
                   : "rcx", "r11", "memory");
  return 0;
}

// Lets a function of ntdll.so jump to another one. Wine calls it by a table, so it cannot be replaced by its name.
static void replace(char* function, const void* other) {
  unsigned char jump[] = {0x48, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xE0};  // mov rax, other; jmp rax
  memcpy(jump + 2, &other, sizeof other);
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  char* const begin = (char*)((uintptr_t)function / page * page);
  const size_t bytes = (size_t)(function + sizeof jump - begin);
  if (mprotect(begin, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return;
  memcpy(function, jump, sizeof jump);
  mprotect(begin, bytes, PROT_READ | PROT_EXEC);
}

void* dlopen(const char* file, int mode) {
  void* (*const real)(const char*, int) = (void* (*)(const char*, int))dlsym(RTLD_NEXT, "dlopen");
  void* const library = real(file, mode);
  if (library == NULL || file == NULL || strstr(file, "/ntdll.so") == NULL) return library;
  char* const function = dlsym(library, "NtFlushProcessWriteBuffers");
  if (function != NULL && syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0) {
    replace(function, (const void*)flush_write_buffers);
  }
  return library;
}
