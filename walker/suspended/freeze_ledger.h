#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace mixwalk {

// The threads of the target that we have suspended, in memory that mixwalk.exe shares. If all of our threads in the
// target end, or do not answer any more, mixwalk.exe resumes the threads that are listed here.
//
// Folklore: a thread that calls ExitProcess makes the system end every other thread, ours too. Real case: our thread
// ended while it had the exiting thread suspended, and the program hung for ever (some 1 in 100 ends under `record -i
// 1ms`). No thread inside the target could resume that thread, since all of them had ended. (Test: ends_test.)

// How far a suspension has progressed.
enum class FreezeState : std::uint8_t {
  empty,
  suspending,     // SuspendThread is being called, and the thread may or may not be suspended yet
  frozen,         // we have suspended the thread once
  walked,         // frozen, and in DoStackSnapshot, which may suspend the thread once more
  walk_holds,     // our suspension is undone, but that of DoStackSnapshot may be in effect
  resuming,       // ResumeThread is being called
  resumed,        // no suspension of ours is left: if the thread is suspended, others did it
  taking,         // mixwalk.exe is calling ResumeThread
  given_back,     // mixwalk.exe has undone our suspension
  walk_given_back,  // mixwalk.exe has also undone the suspension of DoStackSnapshot
  not_suspended,  // mixwalk.exe has called ResumeThread, and found the thread running
};

// The content of one slot of the ledger. `turn` counts the slot's suspensions, modulo 2^24.
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

// The shared memory. It is all zero at first. Each slot is one word, so it is always read and changed whole.
struct LedgerPage {
  static constexpr std::size_t kSlots = 1024;
  std::atomic<std::uint64_t> slots[kSlots];
  // In a recording of events (exceptions, allocations, loads): how many wanted events have happened. Events that are
  // not yet sent when a target ends are lost, and mixwalk.exe counts them by this number.
  std::atomic<std::uint64_t> events;
  // How many events have happened while the process ended, and it is not known whether they were wanted.
  std::atomic<std::uint64_t> unjudged_events;
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
};

// One suspension, from before SuspendThread to after ResumeThread. Frozen-safe: it uses plain atomics only.
//
// A thread takes the suspension before it calls ResumeThread. Only one of these can take it: the thread that suspended,
// a supervisor, or mixwalk.exe.
class LedgerFreeze {
 public:
  // To be called before SuspendThread. Returns false if no slot is free; nothing may be suspended then.
  bool begin(LedgerPage& page, std::uint32_t thread) noexcept;
  // To be called after SuspendThread. Returns false if mixwalk.exe has taken the suspension; see is_left_to_us().
  bool suspended() noexcept { return change(FreezeState::suspending, FreezeState::frozen); }
  // Whether the suspension is still in effect although mixwalk.exe took it, so that we must undo it. This is so if its
  // ResumeThread found the thread running, because it came before our SuspendThread, or if mixwalk.exe never finished
  // its ResumeThread.
  bool is_left_to_us() const noexcept {
    const FreezeState now = state();
    return now == FreezeState::not_suspended || now == FreezeState::taking;
  }

  // To be called around DoStackSnapshot. When DoStackSnapshot returns, it has resumed the thread itself. These calls do
  // nothing if no suspension is in effect.
  void walk_begins() noexcept { change(FreezeState::frozen, FreezeState::walked); }
  void walk_ended() noexcept;

  // To be called before ResumeThread. Returns false if another thread took our suspension, and calls ResumeThread.
  bool take() noexcept;
  // Takes the suspension of DoStackSnapshot in the same way, if our own is already undone.
  bool take_walk() noexcept { return change(FreezeState::walk_holds, FreezeState::resuming); }
  // To be called after ResumeThread. `walk_holds`: DoStackSnapshot is in progress and may have its own suspension.
  void resumed(bool walk_holds) noexcept {
    change(FreezeState::resuming, walk_holds ? FreezeState::walk_holds : FreezeState::resumed);
  }
  bool being_resumed() const noexcept { return state() == FreezeState::resuming; }
  // To be called during DoStackSnapshot, before SuspendThread. Returns false if the suspension that DoStackSnapshot
  // made was not undone, so it must not be made again.
  bool walk_takes_again() noexcept;

  // Whether mixwalk.exe has taken the suspension, so that the thread runs or will run at once.
  bool taken_from_outside() const noexcept { return state() >= FreezeState::taking; }
  // Whether mixwalk.exe is calling ResumeThread at this moment.
  bool being_taken() const noexcept { return state() == FreezeState::taking; }
  // To be called last, by the thread that suspended.
  void end() noexcept;

 private:
  FreezeState state() const noexcept {
    const std::atomic<std::uint64_t>* const slot = slot_.load(std::memory_order_acquire);
    return slot == nullptr ? FreezeState::empty
                           : LedgerEntry::of(slot->load(std::memory_order_acquire)).state;
  }
  bool change(FreezeState from, FreezeState to) noexcept;

  // Atomic, because a supervisor that was stopped for a long time may run again while end() is called.
  std::atomic<std::atomic<std::uint64_t>*> slot_{nullptr};
  LedgerEntry entry_;  // of this suspension; its state is not updated
};

}  // namespace mixwalk
