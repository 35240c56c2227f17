#pragma once

#include <windows.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "symbols/win/profiling_api.h"
#include "unmanaged/image/module_table.h"
#include "walker/model/stack.h"
#include "walker/profiler/clr_interfaces.h"
#include "walker/profiler/unload_gate.h"

namespace mixwalk {

// A thread's walk of its own stack, inside a callback of the runtime, while all other threads run. It contains
// everything that may no longer exist when another thread finishes it (Sampler::finish_event): the frames, the names of
// dynamic methods, and the images of the walked frames.
struct EventSample {
  // An image as it was loaded during the walk.
  struct Image {
    std::uint64_t base = 0;
    std::uint64_t identity = 0;  // of the image: see live_modules.h
  };

  std::uint64_t time_ns = 0;  // TickClock
  std::uint64_t value = 1;    // see SampleEvent
  std::uint32_t os_id = 0;
  std::uint64_t clr_id = 0;
  std::string thread_name;
  std::shared_ptr<const std::string> subject;  // what was thrown, allocated or loaded
  UnloadGate::Mark mark;                    // taken before the stack was walked
  Stack stack;                // Frame::module is an index into `images`; only dynamic methods have names
  std::vector<Image> images;  // each image once

  std::size_t bytes() const noexcept {
    return stack.frames.capacity() * sizeof(StackFrame) + sizeof *this;
  }
};

// Walks the calling thread from the caller on, without the frames of this DLL. The walk uses DoStackSnapshot if
// `ask_clr` is set, otherwise only a copy of the stack. `images`: a list that may be out of date. Not frozen-safe: it
// allocates. May throw std::bad_alloc.
std::unique_ptr<EventSample> walk_this_thread(ClrInterfaces& clr, bool ask_clr,
                                              const ModuleTable& images);

// Removes the frames of this DLL from the leaf of a stack, since a callback walks its own thread. Frame::module is an
// index into `images`.
void drop_own_frames(Stack& stack, const ModuleView& images);

}  // namespace mixwalk
