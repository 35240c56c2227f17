#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "symbols/win/clr_metadata_source.h"
#include "unmanaged/image/module_table.h"
#include "walker/merge.h"
#include "walker/profiler/canaries.h"
#include "walker/profiler/clr_interfaces.h"
#include "walker/profiler/clr_managed_code.h"
#include "walker/profiler/freeze_gate.h"
#include "walker/profiler/sample_buffers.h"
#include "walker/profiler/thread_registry.h"
#include "walker/profiler/unload_gate.h"
#include "walker/session/protocol.h"
#include "walker/suspended/circuit_breaker.h"
#include "walker/suspended/win/canary_probe.h"
#include "walker/suspended/win/clr_managed_walk.h"
#include "walker/suspended/win/supervisor.h"
#include "walker/suspended/win/windows_thread.h"

namespace mixwalk {

// One dump: every thread of this process, frozen, walked and let go in turn, each sent as soon as
// it is merged and named. Runs on the agent's thread. A FaultGuard must live.
class Dumper {
 public:
  using Sink = std::function<bool(const Message&)>;  // false: nobody listens any more

  // What outlives a dump.
  struct House {
    ThreadRegistry& registry;
    FreezeGate& gate;
    UnloadGate& unload_gate;
    CircuitBreaker& breaker;
  };
  Dumper(ClrInterfaces& clr, const House& house, Supervisor& supervisor,
         const SampleBuffers& buffers);

  // False: the sink refused, or the process is ending.
  bool dump(const DumpRequest& request, const Sink& sink);

 private:
  bool is_own_thread(DWORD id) const noexcept;
  // False: the process is ending.
  bool capture_into(Thread& result, RawSample& sample, WindowsThread& thread,
                    const DumpRequest& request);
  bool send_thread(std::uint32_t os_id, const DumpRequest& request, const Sink& sink);
  Stack merge_sample(const RawSample& sample);
  bool send_stack(Thread thread, const Sink& sink);
  bool has_unknown_code(const Stack& stack) const;
  bool send_new_modules(const Sink& sink);
  bool send_new_functions(const Stack& stack, const Sink& sink);
  void renumber_modules(Stack& stack) const;

  ClrInterfaces& clr_;
  House house_;
  Supervisor& supervisor_;
  const SampleBuffers& buffers_;
  ClrManagedWalk walk_;
  CanaryProbe probe_;
  Canaries canaries_;
  ClrManagedCode code_;
  ClrMetadataSource names_;
  ModuleTable modules_;
  ModuleView view_;
  std::unordered_map<std::uint64_t, std::int32_t> module_numbers_;  // base → number on the pipe
  std::unordered_set<std::uint64_t> sent_functions_;
};

}  // namespace mixwalk
