#include "walker/session/freeze_watch.h"

#include <algorithm>
#include <optional>

namespace mixwalk {

bool FreezeWatch::is_under_way(FreezeState state) const noexcept {
  switch (state) {
    case FreezeState::suspending:
    case FreezeState::frozen:
    case FreezeState::walked:
    case FreezeState::walk_holds:
    case FreezeState::resuming: return true;
    case FreezeState::taking: return inherited_;
    case FreezeState::empty:
    case FreezeState::resumed:
    case FreezeState::given_back:
    case FreezeState::walk_given_back:
    case FreezeState::not_suspended: break;
  }
  return false;
}

int FreezeWatch::look(std::uint64_t now_ms, bool agent_ended, ThreadResumer& resumer) {
  int times = 0;
  any_ = false;
  longest_ms_ = 0;
  const std::uint64_t watched_ms = watched_.look(now_ms);
  std::optional<Stopped> stopped;  // at this look; asked only if something is overdue
  if (agent_ended && !agent_ended_) resumed_.clear();
  agent_ended_ = agent_ended;
  for (std::size_t i = 0; i < LedgerPage::kSlots; ++i) {
    const LedgerEntry entry = LedgerEntry::of(page_.slots[i].load(std::memory_order_acquire));
    Seen& seen = seen_[i];
    if (!is_under_way(entry.state)) {
      seen = {};
      continue;
    }
    if (seen.entry != entry.with(FreezeState::empty)) {
      seen = {entry.with(FreezeState::empty), watched_ms};
    }
    longest_ms_ = std::max(longest_ms_, watched_ms - seen.since_ms);
    bool takes = agent_ended;
    if (!takes && watched_ms - seen.since_ms >= limit_ms_) {
      if (!stopped) stopped = resumer.stopped();
      takes = may_take(entry, *stopped, seen, resumer);
    }
    if (takes) {
      times += give_back(page_.slots[i], entry, resumer);
    } else {
      any_ = true;
    }
  }
  return times;
}

// Whether an overdue suspension may be taken while the agent lives.
bool FreezeWatch::may_take(const LedgerEntry& entry, Stopped stopped, Seen& seen, ThreadResumer& resumer) const {
  if (stopped == Stopped::process) {
    seen.since_ms = watched_.watched();
    return false;
  }
  if (entry.state == FreezeState::taking) return resumer.is_suspended(entry.thread);
  if (entry.state != FreezeState::suspending) return true;
  seen.agent_stopped = stopped == Stopped::agent ? seen.agent_stopped + 1 : 0;
  const bool helps = patched_ || seen.agent_stopped >= kStoppedLooks ||
                     watched_.watched() - seen.since_ms >= kLastResortMs;
  return helps && resumer.is_suspended(entry.thread);
}

int FreezeWatch::give_back(std::atomic<std::uint64_t>& slot, const LedgerEntry& entry,
                           ThreadResumer& resumer) {
  if (!may_resume(entry.thread) || !resumer.open(entry.thread)) return 0;
  std::uint64_t word = entry.word();
  if (!slot.compare_exchange_strong(word, entry.with(FreezeState::taking).word())) {
    any_ = true;  // the target has changed it meanwhile
    return 0;
  }
  const std::uint32_t before = resume(entry.thread, resumer);
  // DoStackSnapshot suspends its target once more; that suspension counts as ours, too.
  const bool walk = entry.state == FreezeState::walked && before > 1 &&
                    may_resume(entry.thread) && resume(entry.thread, resumer) != 0;
  const FreezeState now = before == 0 ? FreezeState::not_suspended
                          : walk || entry.state == FreezeState::walk_holds
                              ? FreezeState::walk_given_back
                              : FreezeState::given_back;
  word = entry.with(FreezeState::taking).word();
  slot.compare_exchange_strong(word, entry.with(now).word());
  return before != 0 ? 1 : 0;
}

bool FreezeWatch::may_resume(std::uint32_t thread) const {
  const auto found = resumed_.find(thread);
  return found != resumed_.end() ? found->second < (patched_ ? kMaxPerThreadPatched : kMaxPerThread)
                                 : resumed_.size() < kMaxThreads;
}

std::uint32_t FreezeWatch::resume(std::uint32_t thread, ThreadResumer& resumer) {
  ++resumed_[thread];
  return resumer.resume();
}

}  // namespace mixwalk
