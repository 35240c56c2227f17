#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "unmanaged/image/module_table.h"
#include "unmanaged/step/pdata.h"
#include "unmanaged/win/live_memory.h"
#include "walker/merge/merge.h"
#include "walker/profiler/canaries.h"
#include "walker/profiler/circuit_breaker.h"
#include "walker/profiler/clr_interfaces.h"
#include "walker/profiler/event_sample.h"
#include "walker/profiler/freeze_gate.h"
#include "walker/profiler/image_loads.h"
#include "walker/profiler/listed_images.h"
#include "walker/profiler/sample_buffers.h"
#include "walker/profiler/stack_names.h"
#include "walker/profiler/thread_registry.h"
#include "walker/profiler/unload_gate.h"
#include "walker/session/protocol.h"
#include "walker/suspended/group_capture.h"
#include "walker/suspended/resuspension.h"
#include "walker/suspended/unmoved_stack.h"
#include "walker/suspended/win/canary_probe.h"
#include "walker/suspended/win/clr_managed_walk.h"
#include "walker/suspended/win/supervisor.h"
#include "walker/suspended/win/windows_thread.h"

namespace mixwalk {

// The services that outlive a dump or a recording.
struct SamplerServices {
  ThreadRegistry& registry;
  FreezeGate& gate;
  UnloadGate& unload_gate;
  CircuitBreaker& breaker;
};

// Samples one thread of this process after another: freezes it, walks it, resumes it, merges the stack and names its
// functions. Runs on the agent's thread.
class Sampler {
 public:
  Sampler(ClrInterfaces& clr, const SamplerServices& services, Supervisor& supervisor,
          const SampleBuffers& buffers);

  // To be called before the first sample: warms the CLR up, lists the images, chooses canaries.
  void begin(const DumpRequest& request);
  // Whether this is one of our own threads, which are never sampled.
  bool is_own_thread(DWORD id) const noexcept;

  // One sample. Frame::module is an index into modules(), and all frames except native ones have names.
  struct Sample {
    Thread thread;
    CaptureFault fault = CaptureFault::none;
    std::uint32_t refusal = 0;  // the error with which the system refuses the thread's registers
    bool unmoved = false;  // the thread has no stack here, because its stack is that of the last sample
    LookReasons again = {};
  };
  // The state of the thread at its last sample. It is not used if code on which it depends was unloaded since.
  struct Last {
    UnmovedStack stack;
    StackDependencies dependencies;
    std::uint64_t generation = 0;  // the generation of names and images
  };
  std::optional<Sample> sample(WindowsThread& thread, std::uint32_t os_id,
                               const DumpRequest& request, Last* last = nullptr);

  // One sample for each of the threads that are frozen together, walked from their copies. The order of `threads` is
  // kept. `engine` is `copy` or `automatic`; with `automatic`, sample() may ask the runtime later about a stack with a
  // gap. `arena`: room for all their stacks; if it is empty, 12 MiB are used. Returns nothing if the process is ending.
  struct GroupThread {
    std::uint32_t os_id = 0;
    const ThreadHandle* thread = nullptr;
    Last* last = nullptr;
    Sample sample;
  };
  static constexpr std::size_t kMaxInGroup = GroupFreeze::kMax;
  // Returns how long the group was frozen, in nanoseconds.
  std::optional<std::uint64_t> sample_group(std::span<GroupThread> threads, Engine engine,
                                            std::span<std::byte> arena);

  // The stack of a thread that has walked itself, with names. Returns nothing if code was unloaded since then, because
  // the addresses of the walk may mean something else now.
  std::optional<Stack> finish_event(EventSample& event);
  // The stack of a thread that has loaded a native image, from its copy `stack`. Returns nothing in the same case.
  std::optional<Stack> finish_image_load(const ImageLoad& load, std::span<const std::byte> stack);
  // Must not be called before begin().
  const ImageUnloads& image_unloads() const noexcept { return images_.unloads(); }
  // The images as they were last listed; never null after begin().
  std::shared_ptr<const ModuleTable> images() const noexcept { return images_.table(); }

  // Every image met since forget(); a module's number is its index here.
  std::span<const Module> modules() const noexcept { return images_.numbered(); }
  // Every assembly met since forget(); its number is its index here.
  std::span<const Assembly> assemblies() const noexcept { return names_.assemblies(); }
  ThreadRegistry& registry() const noexcept { return services_.registry; }
  UnloadGate& unload_gate() const noexcept { return services_.unload_gate; }
  // The name of a managed thread, UTF-8; empty if it has none, or if it is not known.
  std::string managed_name(std::uint32_t os_id) const { return services_.registry.name_of(os_id); }
  // Makes the sampler look up names anew, begin modules() anew, and walk every stack anew. Otherwise everything that
  // was ever met would stay in memory.
  void forget();
  // Returns why threads cannot be sampled any more, or null if they can be sampled. While the supervisor is silent,
  // this waits, for kMaxSilenceMs at most in a dump or in a round of a recording (Supervisor::wait_while_silent). A
  // reason stays. Nothing may be frozen or claimed.
  const char* obstacle() noexcept;
  // To be called before each round of a recording.
  void begin_round() noexcept { silence_left_ms_ = kMaxSilenceMs; }
  BreakerState breaker() const { return services_.breaker.state(GetTickCount64()); }
  Supervisor& supervisor() const noexcept { return supervisor_; }

 private:
  bool pause(DWORD pause_ms);
  std::optional<Sample> sample_by(Engine engine, WindowsThread& thread, std::uint32_t os_id,
                                  const DumpRequest& request, Last* last);
  void prepare_probe(const DumpRequest& request);
  // One look at a thread. Returns false if the process is ending.
  bool look(Sample& result, Engine engine, WindowsThread& thread, const DumpRequest& request,
            Last* last);
  void begin_look();
  void drop_stale(Last& last);
  // How a thread was looked at.
  struct Look {
    const ThreadHandle* thread = nullptr;
    bool asked = true;  // false if the runtime may know more about a stack with a gap
    std::uint64_t generation = 0;
  };
  void finish_look(Sample& result, RawSample& raw, const Look& look, Last* last);
  bool capture_into(Thread& result, RawSample& sample, Engine engine, WindowsThread& thread,
                    const DumpRequest& request, const UnmovedStack* last);
  Stack walk_copy(const RawSample& sample);
  void read_unloads();
  bool finish(Stack& stack);

  ClrInterfaces& clr_;
  SamplerServices services_;
  Supervisor& supervisor_;
  const SampleBuffers& buffers_;
  ClrManagedWalk walk_;
  CanaryProbe probe_;
  Canaries canaries_;
  bool probe_prepared_ = false;
  // mixwalk.exe waits 30 s for the first message of a dump, and the supervisor may have taken kDefaultStartMs of them.
  static constexpr DWORD kMaxSilenceMs = 8'000;
  const char* obstacle_ = nullptr;  // the reason that obstacle() has given
  DWORD silence_left_ms_ = kMaxSilenceMs;
  DWORD paused_ms_ = 0;  // the sum of the pauses between the looks of this dump
  ListedImages images_;
  StackNames names_;
  EntryHints hints_;
  LiveMemory outside_;
  std::vector<GroupMember> group_;  // of the group in progress
};

}  // namespace mixwalk
