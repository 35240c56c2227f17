#include "walker/suspended/freeze_ledger.h"

namespace mixwalk {

bool LedgerFreeze::begin(LedgerPage& page, std::uint32_t thread) noexcept {
  for (std::atomic<std::uint64_t>& slot : page.slots) {
    std::uint64_t word = slot.load(std::memory_order_relaxed);
    const LedgerEntry last = LedgerEntry::of(word);
    if (last.state != FreezeState::empty) continue;
    entry_ = {thread, (last.turn + 1) % LedgerEntry::kTurns, FreezeState::suspending};
    if (!slot.compare_exchange_strong(word, entry_.word())) continue;
    slot_.store(&slot, std::memory_order_release);
    return true;
  }
  return false;
}

bool LedgerFreeze::change(FreezeState from, FreezeState to) noexcept {
  std::atomic<std::uint64_t>* const slot = slot_.load(std::memory_order_acquire);
  if (slot == nullptr) return false;
  std::uint64_t word = entry_.with(from).word();
  return slot->compare_exchange_strong(word, entry_.with(to).word());
}

bool LedgerFreeze::take() noexcept {
  return change(FreezeState::frozen, FreezeState::resuming) ||
         change(FreezeState::walked, FreezeState::resuming);
}

void LedgerFreeze::walk_ended() noexcept {
  if (!change(FreezeState::walked, FreezeState::frozen)) {
    change(FreezeState::walk_holds, FreezeState::resumed);
  }
}

bool LedgerFreeze::walk_takes_again() noexcept {
  return change(FreezeState::resumed, FreezeState::walk_holds) ||
         change(FreezeState::walk_given_back, FreezeState::walk_holds);
}

void LedgerFreeze::end() noexcept {
  std::atomic<std::uint64_t>* const slot = slot_.exchange(nullptr);
  if (slot == nullptr) return;
  // The turn is kept, so that the word of the next suspension of this thread is different.
  slot->store(LedgerEntry{0, entry_.turn, FreezeState::empty}.word(), std::memory_order_release);
}

}  // namespace mixwalk
