#pragma once

#include "walker/export/recording_exporter.h"

namespace mixwalk {

// profile.proto of pprof, compressed with gzip. Samples of one thread and stack are one there, with
// two values where the event has a time: how many they are, and the nanoseconds. Its labels:
// `thread` (name), `tid` (number), `kind` (of the leaf frame: managed, native, stub, gap; `none` of
// a sample without stack). A native frame without name has an address and no function, so that
// pprof can name it. The `build_id` of an image is its code_id().
class PprofExporter final : public RecordingExporter {
 public:
  bool write(const Recording& recording, ByteSink& sink) const override;
};

}  // namespace mixwalk
