#pragma once

#include <cstdint>

namespace mixwalk {

// When the CLR is first tried on another thread, before it is asked about the frozen one.
enum class ProbePolicy : std::uint8_t {
  never,
  risk,    // where the thread stands in code that may hold a lock of the runtime or the process
  always,
};

// What came of it.
enum class ProbeResult : std::uint8_t {
  none,    // not tried
  passed,
  failed,  // a lock is held, or there was no thread to try it on: the CLR was not asked
};

// Tries, on a thread of its own and with a time limit, whether the resources that the CLR needs for a walk are
// available while the target is frozen. Frozen-safe. (The design is that of the published continuous profilers for
// .NET: a canary thread that is walked first.)
class Probe {
 public:
  // Returns false if what the CLR needs was not available in time. The worker finishes the try once the target runs.
  virtual bool passes() noexcept = 0;

 protected:
  ~Probe() = default;
};

}  // namespace mixwalk
