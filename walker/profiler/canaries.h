#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "unmanaged/step/registers.h"
#include "walker/profiler/freeze_gate.h"
#include "walker/profiler/thread_registry.h"
#include "walker/suspended/win/canary_probe.h"

namespace mixwalk {

// Chooses the canaries, on which the probe is tried, and keeps a canary claimed while the worker may walk it. Not
// frozen-safe.
//
// A canary must be parked: it is a managed thread that is not suspended, and it is in a system call, in the same place
// before and after a trial walk. The trial walk must succeed, with nothing else frozen. Two canaries are chosen if
// possible, so that one can serve while the other one is itself the target.
class Canaries {
 public:
  Canaries(ThreadRegistry& registry, FreezeGate& gate, CanaryProbe& probe) noexcept
      : registry_(registry), gate_(gate), probe_(probe) {}

  // To be called with nothing frozen. The thread with the id `wanted`, or else a thread whose name begins with
  // `prefix`, is tried first; this waits a short time until such a thread exists. Other threads are tried if `wanted`
  // is 0 and `prefix` is empty, or if that thread fails its trial.
  void choose(std::uint32_t wanted, const std::string& prefix);

  // The canary for one freeze of one target. It is another thread than the target, and is claimed for as long as the
  // worker may walk it.
  class Claimed {
   public:
    Claimed(Canaries& canaries, std::uint32_t target);
    ~Claimed();
    Claimed(const Claimed&) = delete;
    Claimed& operator=(const Claimed&) = delete;

   private:
    Canaries& canaries_;
    std::optional<ThreadClaim> claim_;
  };

 private:
  bool try_out(std::uint32_t os_id);
  std::optional<Registers> registers_in_system_call(std::uint32_t os_id);

  ThreadRegistry& registry_;
  FreezeGate& gate_;
  CanaryProbe& probe_;
  std::vector<std::uint32_t> chosen_;  // OS ids, kWanted at most
};

}  // namespace mixwalk
