#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace mixwalk {

// Waits between tries.
class Pauses {
 public:
  virtual ~Pauses() = default;
  // Returns false at once, without waiting, if waiting that long would exceed the patience.
  virtual bool wait(std::chrono::milliseconds time) = 0;
  // To be called when a try succeeded: the patience begins anew.
  virtual void succeeded() = 0;
};

// Waits in real time. There is no limit until end_within() is called. From then on waiting is limited to `rest`, and to
// `rest` again after each success. Any thread may call the functions.
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
  Clock::time_point since_ = Clock::now();  // the time of the last success, or of end_within()
};

}  // namespace mixwalk
