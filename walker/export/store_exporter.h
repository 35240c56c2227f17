#pragma once

#include "walker/export/recording_exporter.h"

namespace mixwalk {

// Writes a recording as a .mixwalk file, all at once (docs/format.md). write() also returns false for a recording that
// exceeds the format's limits.
class StoreExporter final : public RecordingExporter {
 public:
  bool write(const Recording& recording, ByteSink& sink) const override;
};

}  // namespace mixwalk
