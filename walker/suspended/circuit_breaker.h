#pragma once

#include <cstdint>
#include <unordered_map>

#include "walker/model/snapshot.h"

namespace mixwalk {

// Keeps DoStackSnapshot off threads, and in the end off a process, in which its walks had to be
// ended by the supervisor: each of those cost the target a whole deadline. The copy engine goes on,
// so no sample is lost. Lasts as long as a visit. Not frozen-safe: asked between two freezes.
class CircuitBreaker {
 public:
  // Overdue walks of one thread, and of all, after which it is enough. One alone may be bad luck: a
  // machine that swaps.
  static constexpr std::uint32_t kThreadLimit = 2;
  static constexpr std::uint32_t kProcessLimit = 10;

  bool allows(std::uint32_t os_id) const {
    if (state_.process_off) return false;
    const auto found = overdue_.find(os_id);
    return found == overdue_.end() || found->second < kThreadLimit;
  }

  void overdue(std::uint32_t os_id) {
    if (++overdue_[os_id] == kThreadLimit) ++state_.threads_off;
    if (++total_ == kProcessLimit) state_.process_off = true;
  }

  const BreakerState& state() const noexcept { return state_; }

 private:
  std::unordered_map<std::uint32_t, std::uint32_t> overdue_;
  std::uint32_t total_ = 0;
  BreakerState state_;
};

}  // namespace mixwalk
