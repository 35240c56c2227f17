#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace mixwalk {

// The time between tries.
class Pauses {
 public:
  virtual ~Pauses() = default;
  // Returns false if waiting that long would exceed the patience, and nothing was waited for.
  virtual bool wait(std::chrono::milliseconds time) = 0;
  // A try succeeded: the next trouble has all patience again.
  virtual void succeeded() = 0;
};

// Waits in real time. There is no limit until end_within() is called; from then on waiting is limited to `rest`, and to
// `rest` again after each success. Any thread may call it.
class Patience final : public Pauses {
 public:
  bool wait(std::chrono::milliseconds time) override;
  void succeeded() override;
  void end_within(std::chrono::milliseconds rest);

 private:
  using Clock = std::chrono::steady_clock;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::chrono::milliseconds> rest_;
  Clock::time_point since_ = Clock::now();  // the last success, or when the end was wanted
};

}  // namespace mixwalk
