#pragma once

#include <atomic>

namespace mixwalk {

// As long as an object exists, the first Ctrl-C does not end this process: pressed() is then true. The second one ends
// the process as usual. One object at a time.
class InterruptCatcher {
 public:
  InterruptCatcher() noexcept;
  ~InterruptCatcher();
  InterruptCatcher(const InterruptCatcher&) = delete;
  InterruptCatcher& operator=(const InterruptCatcher&) = delete;

  bool pressed() const noexcept;
  static bool exists() noexcept { return exists_; }

 private:
  inline static std::atomic<bool> exists_ = false;
  void (*before_)(int) = nullptr;  // what a signal did
};

}  // namespace mixwalk
