#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace mixwalk {

// Which threads of the target are suspended by us, in memory that mixwalk.exe shares: if all of our threads in the
// target end or fall silent, mixwalk.exe resumes the threads that are listed here.
//
// Folklore: a thread that calls ExitProcess makes the system end every other thread, ours too. Real case: our thread
// ended while it had the exiting thread suspended, and the program hung for ever (some 1 in 100 ends under `record -i
// 1ms`). No thread inside could help: all had ended. (Test: ends_test.)

// How far a suspension has come.
enum class FreezeState : std::uint8_t {
  empty,
  suspending,     // SuspendThread is being called: the thread may be suspended, or not yet
  frozen,         // suspended once by us
  walked,         // frozen, and in DoStackSnapshot, which may suspend it once more
  walk_holds,     // our suspension is given back, that of DoStackSnapshot may be left
  resuming,       // ResumeThread is being called
  resumed,        // nothing of ours is left: whatever suspends the thread now is not ours
  taking,         // mixwalk.exe is calling ResumeThread
  given_back,     // mixwalk.exe has given back our suspension
  walk_given_back,  // mixwalk.exe has given back that of DoStackSnapshot, too
  not_suspended,  // mixwalk.exe has called ResumeThread, and found the thread running
};

// What one slot of the ledger says. `turn` counts the slot's suspensions, modulo 2^24.
struct LedgerEntry {
  std::uint32_t thread = 0;
  std::uint32_t turn = 0;
  FreezeState state = FreezeState::empty;

  static constexpr std::uint32_t kTurns = 1 << 24;
  constexpr std::uint64_t word() const noexcept {
    return std::uint64_t{thread} << 32 | std::uint64_t{turn % kTurns} << 8 |
           static_cast<std::uint8_t>(state);
  }
  // Any word is an entry: a word with an unknown state counts as `empty`.
  static constexpr LedgerEntry of(std::uint64_t word) noexcept {
    const auto state = static_cast<std::uint8_t>(word);
    return {static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(word >> 8) % kTurns,
            state <= static_cast<std::uint8_t>(FreezeState::not_suspended)
                ? static_cast<FreezeState>(state)
                : FreezeState::empty};
  }
  constexpr LedgerEntry with(FreezeState next) const noexcept { return {thread, turn, next}; }
  bool operator==(const LedgerEntry&) const = default;
};

// The shared memory. All zero at first; each slot is one word, so it is read and changed whole.
struct LedgerPage {
  static constexpr std::size_t kSlots = 1024;
  std::atomic<std::uint64_t> slots[kSlots];
  // In a recording of events (exceptions, allocations, loads): how many wanted events have happened. When a
  // target ends, unsent events are lost: mixwalk.exe counts them by this number.
  std::atomic<std::uint64_t> events;
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
};

// One suspension, from before SuspendThread to after ResumeThread. Frozen-safe: plain atomics.
//
// Whoever calls ResumeThread takes the suspension first. Only one of these can take it: the thread that suspended, a
// supervisor, or mixwalk.exe.
class LedgerFreeze {
 public:
  // Before SuspendThread. Returns false if no slot is free, and nothing may be suspended.
  bool begin(LedgerPage& page, std::uint32_t thread) noexcept;
  // After SuspendThread. Returns false if mixwalk.exe has taken the suspension; see is_left_to_us().
  bool suspended() noexcept { return change(FreezeState::suspending, FreezeState::frozen); }
  // mixwalk.exe took the suspension, and its ResumeThread found the thread running, because it came before our
  // SuspendThread; or mixwalk.exe never finished its ResumeThread. So the suspension is still in effect, and we must
  // undo it.
  bool is_left_to_us() const noexcept {
    const FreezeState now = state();
    return now == FreezeState::not_suspended || now == FreezeState::taking;
  }

  // To be called around DoStackSnapshot, which has itself resumed the thread when it returns. Nothing happens where no
  // suspension is in effect.
  void walk_begins() noexcept { change(FreezeState::frozen, FreezeState::walked); }
  void walk_ended() noexcept;

  // Before ResumeThread. Returns false if another thread took our suspension, and calls ResumeThread.
  bool take() noexcept;
  // The same for the suspension of DoStackSnapshot, where our own is already undone.
  bool take_walk() noexcept { return change(FreezeState::walk_holds, FreezeState::resuming); }
  // After ResumeThread. `walk_holds`: DoStackSnapshot is under way and may have its own suspension.
  void resumed(bool walk_holds) noexcept {
    change(FreezeState::resuming, walk_holds ? FreezeState::walk_holds : FreezeState::resumed);
  }
  bool being_resumed() const noexcept { return state() == FreezeState::resuming; }
  // During DoStackSnapshot, before SuspendThread. Returns false if the suspension that DoStackSnapshot made was not
  // undone, so it must not be made again.
  bool walk_takes_again() noexcept;

  // mixwalk.exe has taken the suspension, so the thread runs or will run at once.
  bool taken_from_outside() const noexcept { return state() >= FreezeState::taking; }
  // mixwalk.exe is in the middle of its ResumeThread.
  bool being_taken() const noexcept { return state() == FreezeState::taking; }
  // By the thread that suspended, last.
  void end() noexcept;

 private:
  FreezeState state() const noexcept {
    const std::atomic<std::uint64_t>* const slot = slot_.load(std::memory_order_acquire);
    return slot == nullptr ? FreezeState::empty
                           : LedgerEntry::of(slot->load(std::memory_order_acquire)).state;
  }
  bool change(FreezeState from, FreezeState to) noexcept;

  // Atomic: a supervisor that was stopped for long may come back while end() is called.
  std::atomic<std::atomic<std::uint64_t>*> slot_{nullptr};
  LedgerEntry entry_;  // of this suspension; its state is not kept up
};

}  // namespace mixwalk
