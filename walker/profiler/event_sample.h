#pragma once

#include <windows.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "symbols/win/profiling_api.h"
#include "walker/suspended/raw_sample.h"

namespace mixwalk {

// A walk of a thread by itself, inside a callback of the runtime: nothing stands still, and nothing
// is looked up until another thread merges it (Sampler::merge_event).
struct EventSample {
  std::uint64_t time_ns = 0;  // TickClock
  std::uint64_t value = 1;    // see SampleEvent
  std::uint32_t os_id = 0;
  std::uint64_t clr_id = 0;
  std::string thread_name;
  std::shared_ptr<const std::string> type;  // what was thrown or allocated
  std::uint64_t unloads = 0;                // UnloadGate::unloads() when it was walked

  // The sample's own buffers.
  std::unique_ptr<std::byte[]> stack;
  std::size_t stack_bytes = 0;
  std::vector<ManagedEntry> entries;
  RawSample raw{{}, {}};

  std::size_t bytes() const noexcept {
    return stack_bytes + entries.capacity() * sizeof(ManagedEntry) + sizeof *this;
  }
};

// The calling thread's stack, from the caller on: its copy and, with `info`, what DoStackSnapshot
// reports of it. Not frozen-safe: it allocates. May throw std::bad_alloc.
std::unique_ptr<EventSample> walk_this_thread(clr::ICorProfilerInfo3* info);

}  // namespace mixwalk
