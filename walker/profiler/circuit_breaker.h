#pragma once

#include <cstdint>
#include <unordered_map>

#include "walker/model/snapshot.h"

namespace mixwalk {

// Stops calling DoStackSnapshot for a thread, or for a whole process, if the supervisor had to end its walks
// repeatedly, because each of these walks cost the target a whole deadline. The copy engine goes on, so no sample is
// lost; after a while DoStackSnapshot is tried again. Not frozen-safe: called between two freezes. Times are
// milliseconds of a monotonic clock.
class CircuitBreaker {
 public:
  // This many overdue walks of one thread, or of all threads, switch DoStackSnapshot off for kOffMs. A single one may
  // come from a machine that swaps. Walks more than kMemoryMs apart are not counted together.
  static constexpr std::uint32_t kThreadLimit = 2;
  static constexpr std::uint32_t kProcessLimit = 10;
  static constexpr std::uint64_t kMemoryMs = 10'000;
  static constexpr std::uint64_t kOffMs = 30'000;

  bool allows(std::uint32_t os_id, std::uint64_t now_ms) const {
    if (process_.is_off(now_ms)) return false;
    const auto found = threads_.find(os_id);
    return found == threads_.end() || !found->second.is_off(now_ms);
  }

  void overdue(std::uint32_t os_id, std::uint64_t now_ms) {
    threads_[os_id].overdue(now_ms, kThreadLimit);
    process_.overdue(now_ms, kProcessLimit);
  }

  BreakerState state(std::uint64_t now_ms) const {
    BreakerState state{.process_off = process_.is_off(now_ms)};
    for (const auto& [os_id, fuse] : threads_) state.threads_off += fuse.is_off(now_ms);
    return state;
  }

 private:
  struct Fuse {
    std::uint32_t count = 0;
    std::uint64_t last_ms = 0;
    std::uint64_t off_until_ms = 0;

    bool is_off(std::uint64_t now_ms) const noexcept { return now_ms < off_until_ms; }
    void overdue(std::uint64_t now_ms, std::uint32_t limit) noexcept {
      if (now_ms - last_ms > kMemoryMs) count = 0;
      last_ms = now_ms;
      if (++count < limit) return;
      count = 0;
      off_until_ms = now_ms + kOffMs;
    }
  };

  Fuse process_;
  std::unordered_map<std::uint32_t, Fuse> threads_;
};

}  // namespace mixwalk
