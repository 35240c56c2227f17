#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "symbols/win/clr_metadata_source.h"
#include "unmanaged/image/module_table.h"
#include "walker/merge.h"
#include "walker/profiler/canaries.h"
#include "walker/profiler/clr_interfaces.h"
#include "walker/profiler/clr_managed_code.h"
#include "walker/profiler/event_sample.h"
#include "walker/profiler/freeze_gate.h"
#include "walker/profiler/sample_buffers.h"
#include "walker/profiler/thread_registry.h"
#include "walker/profiler/unload_gate.h"
#include "walker/session/protocol.h"
#include "walker/suspended/circuit_breaker.h"
#include "walker/suspended/last_stand.h"
#include "walker/suspended/win/canary_probe.h"
#include "walker/suspended/win/clr_managed_walk.h"
#include "walker/suspended/win/supervisor.h"
#include "walker/suspended/win/windows_thread.h"

namespace mixwalk {

// What outlives a dump or a recording.
struct House {
  ThreadRegistry& registry;
  FreezeGate& gate;
  UnloadGate& unload_gate;
  CircuitBreaker& breaker;
};

// Samples one thread of this process after another: frozen, walked, let go, merged, its functions
// named. Runs on the agent's thread. A FaultGuard must live.
class Sampler {
 public:
  Sampler(ClrInterfaces& clr, const House& house, Supervisor& supervisor,
          const SampleBuffers& buffers);

  // Before the first sample: warms the CLR up, reads the images, chooses canaries.
  void begin(const DumpRequest& request);
  // A thread of ours, never to be sampled.
  bool is_own_thread(DWORD id) const noexcept;

  // One sample. Frames have the numbers of modules() and, but for native ones, names.
  // `copied`: the same sample walked from its copy; empty unless both engines were asked for.
  // Nothing: the process is ending.
  struct Sample {
    Thread thread;
    std::optional<Thread> copied;
    bool unmoved = false;  // the thread has no stack here: it is that of the sample before
  };
  // Where the thread stood at its last sample. Whatever forget_names() makes void is not used.
  struct Last {
    LastStand stand;
    std::uint64_t names = 0;  // the generation of names that its stack was named by
  };
  std::optional<Sample> sample(WindowsThread& thread, std::uint32_t os_id,
                               const DumpRequest& request, Last* last = nullptr);

  // The stack of a walk that a thread made of itself, with names, without the frames of this DLL.
  // Nothing: code was unloaded since, and what the walk says may mean something else now.
  std::optional<Stack> merge_event(EventSample& event);

  // Every image met so far; a module's number is its place here.
  std::span<const Module> modules() const noexcept { return all_modules_; }
  // Of a managed thread, UTF-8; empty: none, or not known.
  std::string managed_name(std::uint32_t os_id) const { return house_.registry.name_of(os_id); }
  // Names are looked up anew: FunctionIDs may be used again, and the names of all take memory. So
  // is every stack walked anew.
  void forget_names();
  BreakerState breaker() const { return house_.breaker.state(GetTickCount64()); }
  Supervisor& supervisor() const noexcept { return supervisor_; }

 private:
  bool capture_into(Thread& result, RawSample& sample, WindowsThread& thread,
                    const DumpRequest& request, const LastStand* last);
  Stack merge_sample(const RawSample& sample);
  void finish(Stack& stack);
  bool may_be_of_new_image(const Stack& stack);
  void read_modules();

  ClrInterfaces& clr_;
  House house_;
  Supervisor& supervisor_;
  const SampleBuffers& buffers_;
  ClrManagedWalk walk_;
  CanaryProbe probe_;
  Canaries canaries_;
  std::optional<ClrManagedCode> code_;
  std::optional<ClrMetadataSource> names_;
  std::uint64_t unloads_ = 0;  // of managed modules, when the names were begun
  std::uint64_t generation_ = 0;  // how often they were begun
  ULONGLONG modules_read_ms_ = 0;
  std::unordered_set<std::uint64_t> unknown_code_;  // addresses that were in no image
  ModuleTable table_;
  ModuleView view_;
  std::vector<Module> all_modules_;
  std::unordered_map<std::uint64_t, std::int32_t> numbers_;  // base → place, of the newest there
};

}  // namespace mixwalk
