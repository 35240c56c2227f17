#pragma once

#include "walker/base/byte_sink.h"
#include "walker/model/snapshot.h"
#include "walker/shown/frame_selection.h"

namespace mixwalk {

// One output format. Deterministic: the same snapshot gives the same bytes.
class Exporter {
 public:
  virtual ~Exporter() = default;
  // Returns false if the sink refused.
  virtual bool write(const Snapshot& snapshot, ByteSink& sink) const = 0;
};

}  // namespace mixwalk
