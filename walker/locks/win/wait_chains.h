#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "walker/locks/wait_chain.h"

namespace mixwalk {

// The wait chains that the system knows. A separate thread of mixwalk.exe asks, so that a question which the system
// does not answer keeps the caller waiting no longer than the time for all questions.
class WaitChains {
 public:
  // Returns null if the system offers no wait chains (Wine). `time` is for all questions together, from the first one
  // on.
  static std::unique_ptr<WaitChains> open(std::chrono::milliseconds time);
  ~WaitChains();
  WaitChains(const WaitChains&) = delete;
  WaitChains& operator=(const WaitChains&) = delete;

  // Returns an empty list if no chain is known, or if the time is over.
  std::vector<WaitChainNode> of(std::uint32_t thread_id);
  // Whether a question was not answered in time.
  bool timed_out() const;

 private:
  struct Asker;
  WaitChains(std::shared_ptr<Asker> asker, std::chrono::milliseconds time);

  const std::shared_ptr<Asker> asker_;
  const std::chrono::milliseconds time_;
  std::optional<std::chrono::steady_clock::time_point> end_;
};

}  // namespace mixwalk
