#pragma once

#include "walker/export/recording_exporter.h"

namespace mixwalk {

// The processed profile format of the Firefox Profiler, version 60. Later versions of the Profiler open it too. The
// threads share their tables. The category of a frame is its kind (managed code, native code, the runtime's own images,
// code that the runtime made). A sample's weight is its time in milliseconds, or its count.
class FirefoxProfileExporter final : public RecordingExporter {
 public:
  static constexpr int kVersion = 60;
  bool write(const Recording& recording, ByteSink& sink) const override;
};

}  // namespace mixwalk
