#pragma once

#include "walker/export/recording_exporter.h"

namespace mixwalk {

// The processed profile format of the Firefox Profiler, version 60: later ones open it too. Threads
// share their tables; the categories are what a frame is (managed code, native code, the runtime's
// own images, code that the runtime made). A sample weighs its milliseconds, or its count.
class FirefoxProfileExporter final : public RecordingExporter {
 public:
  static constexpr int kVersion = 60;
  bool write(const Recording& recording, ByteSink& sink) const override;
};

}  // namespace mixwalk
