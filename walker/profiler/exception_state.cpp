// The state that the C++ runtime keeps for exceptions. It consists of the exceptions that each thread has caught and
// not left yet, of the number of exceptions in flight, and of the memory of the exceptions themselves. This replaces
// libstdc++'s own state, and needs no allocation.
//
// Folklore: GCC for mingw-w64 emulates thread-local variables (__emutls_get_address). The emulation allocates them by
// winpthreads when a thread first uses them, and calls abort() if memory or handles are missing. Real case: the first
// std::bad_alloc that a thread threw in this DLL ended the program. The emergency pool for exceptions has the same
// problem, because it is guarded by a mutex of winpthreads, and that mutex allocates as well. Remedy: tables that exist
// from the beginning. Test: starved_test.

#include <windows.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>

namespace {

// __cxa_eh_globals of the Itanium C++ ABI, as libstdc++ lays it out.
struct ExceptionState {
  void* caught = nullptr;
  unsigned int in_flight = 0;
};

struct Slot {
  std::atomic<DWORD> thread{0};
  ExceptionState state;
};

// Only threads that throw have a state, and most threads never throw.
constexpr std::size_t kSlots = 1024;
constinit std::array<Slot, kSlots> g_slots;

ExceptionState* state_of_this_thread() noexcept {
  const DWORD self = GetCurrentThreadId();
  for (Slot& slot : g_slots) {
    if (slot.thread.load(std::memory_order_relaxed) == self) return &slot.state;
  }
  for (Slot& slot : g_slots) {
    DWORD nobody = 0;
    if (slot.thread.compare_exchange_strong(nobody, self)) return &slot.state;
  }
  // All entries are used. This takes the entry of a thread that has no exception at the moment.
  for (Slot& slot : g_slots) {
    DWORD other = slot.thread.load();
    if (slot.state.caught == nullptr && slot.state.in_flight == 0 &&
        slot.thread.compare_exchange_strong(other, self)) {
      return &slot.state;
    }
  }
  return &g_slots[self % kSlots].state;
}

// Room for libstdc++'s header in front of an exception, and for the exception itself. The largest of ours is a
// std::exception with a string.
constexpr std::size_t kHeaderBytes = 256;
constexpr std::size_t kBlockBytes = 512;

struct alignas(16) Block {
  std::array<std::byte, kBlockBytes> bytes;
};

// The limit for exceptions that live at the same time. They are few, since each is caught at the entry of this DLL.
constexpr std::size_t kBlocks = 64;
constinit std::array<Block, kBlocks> g_blocks{};
constinit std::array<std::atomic<bool>, kBlocks> g_taken{};

// The block is zeroed. Never returns null: if there is none, it calls std::terminate, as the C++ runtime would.
void* take_block(std::size_t bytes) noexcept {
  for (std::size_t i = 0; bytes <= kBlockBytes && i < kBlocks; ++i) {
    if (g_taken[i].exchange(true)) continue;
    return std::memset(g_blocks[i].bytes.data(), 0, kBlockBytes);
  }
  void* const block = std::calloc(1, bytes);
  if (block == nullptr) std::terminate();
  return block;
}

void give_block_back(void* block) noexcept {
  for (std::size_t i = 0; i < kBlocks; ++i) {
    if (block == g_blocks[i].bytes.data()) {
      g_taken[i] = false;
      return;
    }
  }
  std::free(block);
}

}  // namespace

extern "C" void* __cxa_allocate_exception(std::size_t bytes) noexcept {
  return static_cast<std::byte*>(take_block(bytes + kHeaderBytes)) + kHeaderBytes;
}
extern "C" void __cxa_free_exception(void* exception) noexcept {
  give_block_back(static_cast<std::byte*>(exception) - kHeaderBytes);
}
extern "C" void* __cxa_allocate_dependent_exception() noexcept { return take_block(kHeaderBytes); }
extern "C" void __cxa_free_dependent_exception(void* block) noexcept { give_block_back(block); }

extern "C" void* __cxa_get_globals() noexcept { return state_of_this_thread(); }
extern "C" void* __cxa_get_globals_fast() noexcept { return state_of_this_thread(); }
