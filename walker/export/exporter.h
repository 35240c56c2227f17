#pragma once

#include <cstdint>
#include <optional>

#include "walker/base/byte_sink.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// The frames that every format leaves out on request.
struct FrameFilter {
  bool managed_only = false;
  std::optional<std::uint32_t> depth;  // only this many of the remaining frames, leaf first
  // Whether all frames are shown. These include, for recorded exceptions, the runtime's throw machinery
  // (throw_machinery.h) and, in text, each frame of the runtime that has no name (runtime_frames.h).
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
