#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/win/bench_parts.h"
#include "tests/bench/win/managed_only_walk.h"
#include "unmanaged/image/module_table.h"
#include "unmanaged/step/pdata.h"
#include "unmanaged/win/guarded.h"
#include "unmanaged/win/plain_memory.h"
#include "walker/profiler/canaries.h"
#include "walker/profiler/clr_managed_code.h"
#include "walker/profiler/pages.h"
#include "walker/suspended/capture.h"
#include "walker/suspended/group_capture.h"

namespace mixwalk::bench {

// Freezes the threads of a fixture in each way in turn, and writes down how long each was frozen. The ways alternate,
// so that other load on the machine affects all of them alike. One thread is never frozen in two ways directly after
// each other, because it would then still be on its way back to its wait.
class FreezeBench {
 public:
  FreezeBench(const Parts& parts, std::FILE* rows);

  void run(int rounds);

 private:
  struct Target {
    explicit Target(Supervisor& supervisor) : thread(supervisor) {}
    WindowsThread thread;
    std::uint32_t os_id = 0;
    std::string kind;
  };
  struct Way {
    const char* name;
    void (FreezeBench::*freeze)(Target& target, std::uint64_t clr_id);
    ProbePolicy probe;
    bool managed;
    bool ask_at_risk = true;
  };
  static const Way kWays[];

  void find_targets();
  void freeze(const Way& way, Target& target);
  void floor(Target& target, std::uint64_t clr_id);
  void managed_only(Target& target, std::uint64_t clr_id);
  void ours(Target& target, std::uint64_t clr_id);
  void time_parts(Target& target, std::uint64_t clr_id);
  void time_merge(const Target& target);
  void time_together();
  CaptureView capture_view(const MemoryReader& stack);

  Parts parts_;
  std::FILE* rows_;
  ClrManagedWalk walk_;
  CanaryProbe probe_;
  Canaries canaries_;
  ManagedOnlyWalk managed_only_;
  ClrMetadataSource names_;
  ClrManagedCode code_;
  ModuleTable table_;
  ModuleView modules_;
  EntryHints hints_;
  LiveMemory outside_;
  RawSample sample_;
  const GuardedReader images_;
  const PlainMemory stack_;
  std::vector<std::unique_ptr<Target>> targets_;
  const Pages<std::byte> arena_{64 << 20};  // the same size as for a dump at once
  // State of the current freeze.
  const Way* way_ = nullptr;
  std::uint64_t frozen_ns_ = 0;
  std::size_t frames_ = 0;
};

}  // namespace mixwalk::bench
