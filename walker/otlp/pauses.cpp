#include "walker/otlp/pauses.h"

namespace mixwalk {

bool Patience::wait(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  const auto until = Clock::now() + time;
  while (Clock::now() < until) {
    if (rest_ && until > since_ + *rest_) return false;
    changed_.wait_until(lock, until);
  }
  return true;
}

void Patience::succeeded() {
  const std::lock_guard lock(mutex_);
  since_ = Clock::now();
}

void Patience::end_within(std::chrono::milliseconds rest) {
  const std::lock_guard lock(mutex_);
  rest_ = rest;
  since_ = Clock::now();
  changed_.notify_all();
}

}  // namespace mixwalk
