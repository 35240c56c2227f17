#pragma once

#include <cstdint>

namespace mixwalk {

// The cases in which the CLR is tried on another thread before it is asked about the frozen one.
enum class ProbePolicy : std::uint8_t {
  never,
  risk,    // if the thread is in code that may hold a lock of the runtime or the process
  always,
};

// The result of the probe.
enum class ProbeResult : std::uint8_t {
  none,    // not run
  passed,
  failed,  // a lock is held, or there was no thread for the probe; the CLR was not asked
};

// Tries, on a separate thread and with a time limit, whether the resources that the CLR needs for a walk are available
// while the target is frozen. Frozen-safe. (The design is that of the published continuous profilers for .NET: a canary
// thread that is walked first.)
class Probe {
 public:
  // Returns false if a resource that the CLR needs was not available in time. The worker finishes the try once the
  // target runs.
  virtual bool passes() noexcept = 0;

 protected:
  ~Probe() = default;
};

}  // namespace mixwalk
