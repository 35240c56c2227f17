#pragma once

#include "walker/export/recording_exporter.h"

namespace mixwalk {

// The file format of speedscope, by the JSON schema that speedscope publishes. There is one sampled profile per thread,
// in the order of the recording's threads, with stacks root first. The weights are Sample::value, in nanoseconds, or
// without a unit if it is a count.
class SpeedscopeExporter final : public RecordingExporter {
 public:
  bool write(const Recording& recording, ByteSink& sink) const override;
};

}  // namespace mixwalk
