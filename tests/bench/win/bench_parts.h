#pragma once

#include "walker/profiler/sampler.h"

namespace mixwalk::bench {

// The arguments from which the agent made its sampler. The measurements use the same arguments.
struct Parts {
  ClrInterfaces* clr = nullptr;
  const SamplerServices* services = nullptr;
  Supervisor* supervisor = nullptr;
  const SampleBuffers* buffers = nullptr;
};
const Parts& parts();

}  // namespace mixwalk::bench
