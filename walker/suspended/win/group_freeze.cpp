#include "walker/suspended/win/group_freeze.h"

namespace mixwalk {

void GroupFreeze::clear() {
  if (!members_) members_ = std::make_unique<Member[]>(kMax);
  size_ = 0;
}

bool GroupFreeze::add(const ThreadHandle& thread) noexcept {
  if (size_ == kMax) return false;
  members_[size_++].thread = &thread;
  return true;
}

void GroupFreeze::begin() noexcept {
  reached_.store(0, std::memory_order_relaxed);
  since_ns_.store(now_ns(), std::memory_order_relaxed);
  last_frozen_ticks_.store(0, std::memory_order_relaxed);
  const State next = (state_.load(std::memory_order_relaxed) | kPhaseBits) + 1;
  state_.store(with(next, Phase::frozen), std::memory_order_release);
}

Suspend GroupFreeze::suspend(std::size_t place) noexcept {
  Member& member = members_[place];
  const HANDLE thread = member.thread->get();
  if (overdue(place) || heartbeat_.is_silent() ||
      !member.freeze.begin(ledger_, member.thread->id())) {
    return Suspend::not_now;
  }
  member.handle.store(thread, std::memory_order_relaxed);
  reached_.store(place + 1);
  const DWORD before = SuspendThread(thread);
  if (before == static_cast<DWORD>(-1)) {
    member.freeze.end();
    return Suspend::ending;
  }
  if (!member.freeze.suspended(thread, before, resume_)) return Suspend::not_now;
  // The supervisor may have resumed the group just before. It would not check this thread again.
  if (!overdue(place)) return Suspend::done;
  resume(place);
  return Suspend::not_now;
}

void GroupFreeze::resume(std::size_t place) noexcept {
  Member& member = members_[place];
  const HANDLE thread = member.handle.load(std::memory_order_relaxed);
  if (member.freeze.take()) {
    resume_(thread);
    member.freeze.resumed(false);
  }
  // The supervisor is in its ResumeThread, unless the program has stopped it there.
  heartbeat_.wait_until([&] { return !member.freeze.being_resumed(); });
  if (member.freeze.being_resumed()) member.freeze.resume_for_another(thread, resume_);
  member.freeze.resume_if_left_to_us(thread, resume_);
  member.freeze.end();
}

void GroupFreeze::end() noexcept {
  while (true) {
    State state = state_.load(std::memory_order_acquire);
    if (phase_of(state) == Phase::resuming && !heartbeat_.is_silent()) {
      SwitchToThread();
    } else if (state_.compare_exchange_strong(state, with(state, Phase::idle))) {
      return;
    }
  }
}

// This checks the clock as well. If the program stops the supervisor, mixwalk.exe undoes the suspensions one by one,
// and such a group must not count as one moment.
bool GroupFreeze::overdue(std::size_t place) const noexcept {
  constexpr std::uint64_t kLateNs = 1'000'000'000;  // mixwalk.exe waits for longer than this
  // Works together with look(): either its take() finds the suspension, or suspend() finds this phase.
  const Phase phase = phase_of(state_.load(std::memory_order_seq_cst));
  return phase == Phase::resuming || phase == Phase::overdue ||
         now_ns() - since_ns_.load(std::memory_order_relaxed) >= deadline_ns_ + kLateNs ||
         members_[place].freeze.taken_from_outside();
}

std::uint64_t GroupFreeze::left_ns(std::uint64_t now_ns) const noexcept {
  if (phase_of(state_.load(std::memory_order_acquire)) != Phase::frozen) return kForEverNs;
  const std::uint64_t ends = since_ns_.load(std::memory_order_relaxed) + deadline_ns_;
  return ends > now_ns ? ends - now_ns : 0;
}

void GroupFreeze::look(std::uint64_t now_ns) noexcept {
  State state = state_.load(std::memory_order_acquire);
  if (phase_of(state) != Phase::frozen) return;
  if (left_ns(now_ns) != 0) return;
  LARGE_INTEGER ticks;
  QueryPerformanceCounter(&ticks);
  last_frozen_ticks_.store(static_cast<std::uint64_t>(ticks.QuadPart));
  if (!state_.compare_exchange_strong(state, with(state, Phase::resuming))) return;
  // From here on suspend() itself resumes a thread that it has suspended.
  const std::size_t reached = reached_.load();
  for (std::size_t i = 0; i < reached; ++i) {
    Member& member = members_[i];
    if (!member.freeze.take()) continue;
    resume_(member.handle.load(std::memory_order_relaxed));
    member.freeze.resumed(false);
  }
  state = with(state, Phase::resuming);
  state_.compare_exchange_strong(state, with(state, Phase::overdue));
}

}  // namespace mixwalk
