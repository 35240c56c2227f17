#pragma once

#include "walker/export/recording_exporter.h"

namespace mixwalk {

// A recording as a .mixwalk file, written as a whole (docs/format.md). False also for a recording that exceeds the
// format's limits.
class StoreExporter final : public RecordingExporter {
 public:
  bool write(const Recording& recording, ByteSink& sink) const override;
};

}  // namespace mixwalk
