#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "symbols/win/clr_il_source.h"
#include "symbols/win/clr_metadata_source.h"
#include "symbols/win/clr_stub_targets.h"
#include "unmanaged/image/module_table.h"
#include "unmanaged/step/pdata.h"
#include "unmanaged/win/live_memory.h"
#include "walker/merge.h"
#include "walker/profiler/canaries.h"
#include "walker/profiler/circuit_breaker.h"
#include "walker/profiler/clr_interfaces.h"
#include "walker/profiler/clr_managed_code.h"
#include "walker/profiler/event_sample.h"
#include "walker/profiler/freeze_gate.h"
#include "walker/profiler/image_loads.h"
#include "walker/profiler/listed_images.h"
#include "walker/profiler/sample_buffers.h"
#include "walker/profiler/thread_registry.h"
#include "walker/profiler/unload_gate.h"
#include "walker/session/protocol.h"
#include "walker/suspended/group_capture.h"
#include "walker/suspended/unmoved_stack.h"
#include "walker/suspended/win/canary_probe.h"
#include "walker/suspended/win/clr_managed_walk.h"
#include "walker/suspended/win/supervisor.h"
#include "walker/suspended/win/windows_thread.h"

namespace mixwalk {

// What outlives a dump or a recording.
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

  // Before the first sample: warms the CLR up, reads the images, chooses canaries.
  void begin(const DumpRequest& request);
  // A thread of ours, never to be sampled.
  bool is_own_thread(DWORD id) const noexcept;

  // One sample. Frame::module counts modules(); all frames but native ones have names. `copied`: the same sample walked
  // from its copy; empty unless both engines were asked for. Nothing: the process is ending.
  struct Sample {
    Thread thread;
    std::optional<Thread> copied;
    CaptureFault fault = CaptureFault::none;
    bool unmoved = false;  // the thread has no stack here: it is that of the sample before
    bool look_again = false;  // why it was skipped: at another moment there is a sample of it
    // The stack has a gap, and code or an image was unloaded while it was looked at.
    bool gap_may_be_unloaded_code = false;
    bool lacks_runtime = false;  // a stack with a gap, of which the runtime was not asked
  };
  // What the frames and the names of a stack rest on.
  struct Grounds {
    UnloadGate::Mark mark;  // nothing of it had gone up to here
    std::uint64_t image_mark = 0;  // of the images that were unloaded, before the freeze
    Footprint managed;
    std::vector<std::size_t> images;  // places in the list of images, each once
  };
  // Where the thread was at its last sample. It is not used where code on which it depends was unloaded since.
  struct Last {
    UnmovedStack stack;
    Grounds grounds;
    std::uint64_t generation = 0;  // of names and images
  };
  std::optional<Sample> sample(WindowsThread& thread, std::uint32_t os_id,
                               const DumpRequest& request, Last* last = nullptr);

  // One sample for each of the threads that are frozen together, walked from their copies. The order of `threads` is
  // kept. `engine`: copy, or automatic: for a stack with a gap, sample() may then ask the runtime. `arena`: room for
  // all their stacks; empty: 12 MiB. Nothing: the process is ending.
  struct GroupThread {
    std::uint32_t os_id = 0;
    const ThreadHandle* thread = nullptr;
    Last* last = nullptr;
    Sample sample;
  };
  static constexpr std::size_t kMaxInGroup = GroupFreeze::kMax;
  // How long the group was frozen, in nanoseconds.
  std::optional<std::uint64_t> sample_group(std::span<GroupThread> threads, Engine engine,
                                            std::span<std::byte> arena);

  // The stack of a thread's walk of itself, with names. Nothing: code was unloaded since, and the addresses of the walk
  // may mean something else now.
  std::optional<Stack> finish_event(EventSample& event);
  // The stack of a thread that has loaded a native image, from its copy `stack`. Nothing: as above.
  std::optional<Stack> finish_image_load(const ImageLoad& load, std::span<const std::byte> stack);
  // There after begin().
  const ImageUnloads& image_unloads() const noexcept { return images_.unloads(); }
  // The images as they were last listed; never null after begin().
  std::shared_ptr<const ModuleTable> images() const noexcept { return images_.table(); }

  // Every image met since forget(); a module's number is its index here.
  std::span<const Module> modules() const noexcept { return images_.numbered(); }
  // Every assembly met since forget(); its number is its index here.
  std::span<const Assembly> assemblies() const noexcept { return il_.assemblies(); }
  ThreadRegistry& registry() const noexcept { return services_.registry; }
  UnloadGate& unload_gate() const noexcept { return services_.unload_gate; }
  // Of a managed thread, UTF-8; empty: none, or not known.
  std::string managed_name(std::uint32_t os_id) const { return services_.registry.name_of(os_id); }
  // Afterwards names are looked up anew, modules() begins anew, and every stack is walked anew: otherwise everything
  // that was ever met would stay in memory.
  void forget();
  // Why no thread can be sampled any more; null: threads can be sampled. Waits a short time before it gives a reason.
  const char* obstacle() const noexcept;
  BreakerState breaker() const { return services_.breaker.state(GetTickCount64()); }
  Supervisor& supervisor() const noexcept { return supervisor_; }

 private:
  bool pause_before(int look);
  std::optional<Sample> sample_by(Engine engine, WindowsThread& thread, std::uint32_t os_id,
                                  const DumpRequest& request, Last* last);
  void prepare_probe(const DumpRequest& request);
  // One look at a thread. False: the process is ending.
  bool look(Sample& result, Engine engine, WindowsThread& thread, const DumpRequest& request,
            Last* last);
  void begin_look();
  void drop_stale(Last& last);
  // How a look was made.
  struct Look {
    bool both_engines = false;
    bool asked = true;  // false: the runtime could know more of a stack with a gap
    std::uint64_t generation = 0;
  };
  void finish_look(Sample& result, RawSample& raw, const Look& look, Last* last);
  bool capture_into(Thread& result, RawSample& sample, Engine engine, WindowsThread& thread,
                    const DumpRequest& request, const UnmovedStack* last);
  Stack walk_copy(const RawSample& sample);
  bool make_stack(Stack& stack, const RawSample& sample);
  void read_unloads();
  bool still_holds(const Grounds& grounds, const UnloadGate::Mark& now);
  bool finish(Stack& stack);
  bool name(Frame& frame);
  void find_target(Stack& stack, std::size_t stub);
  bool place_in_il(Frame& frame);

  ClrInterfaces& clr_;
  SamplerServices services_;
  Supervisor& supervisor_;
  const SampleBuffers& buffers_;
  ClrManagedWalk walk_;
  CanaryProbe probe_;
  Canaries canaries_;
  bool probe_prepared_ = false;
  ClrMetadataSource names_;
  ClrIlSource il_;
  ClrStubTargets targets_;
  ClrManagedCode code_;
  UnloadGate::Mark last_mark_;  // names_ has forgotten what was unloaded up to here
  std::vector<UnloadGate::Unload> unloads_;
  DWORD paused_ms_ = 0;  // in all, between the looks of this dump
  ListedImages images_;
  EntryHints hints_;
  LiveMemory outside_;
  Grounds grounds_;                 // of the sample under way
  std::vector<GroupMember> group_;  // of the group under way
};

}  // namespace mixwalk
