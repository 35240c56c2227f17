#pragma once

#include <cstdint>
#include <optional>

#include "walker/base/byte_sink.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// What every format leaves out when it is told to.
struct FrameFilter {
  bool managed_only = false;
  std::optional<std::uint32_t> depth;  // the first so many of what is left, leaf first
  // Whether all frames are shown: of recorded exceptions also the runtime's throw machinery (throw_machinery.h), and,
  // in text, each frame of the runtime that has no name (runtime_frames.h).
  bool all = false;
};

// One output format. Deterministic: the same snapshot gives the same bytes.
class Exporter {
 public:
  virtual ~Exporter() = default;
  // Returns false if the sink refused.
  virtual bool write(const Snapshot& snapshot, ByteSink& sink) const = 0;
};

}  // namespace mixwalk
