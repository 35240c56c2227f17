#pragma once

#include "walker/export/exporter.h"
#include "walker/model/recording.h"

namespace mixwalk {

// One output format of recordings. Deterministic: the same recording gives the same bytes.
class RecordingExporter {
 public:
  virtual ~RecordingExporter() = default;
  // Returns false if the sink refused.
  virtual bool write(const Recording& recording, ByteSink& sink) const = 0;
};

}  // namespace mixwalk
