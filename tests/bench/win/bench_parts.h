#pragma once

#include "walker/profiler/sampler.h"

namespace mixwalk::bench {

// What the agent made its sampler of: the measurements are made of the same.
struct Parts {
  ClrInterfaces* clr = nullptr;
  const SamplerServices* services = nullptr;
  Supervisor* supervisor = nullptr;
  const SampleBuffers* buffers = nullptr;
};
const Parts& parts();

}  // namespace mixwalk::bench
