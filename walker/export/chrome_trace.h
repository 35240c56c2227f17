#pragma once

#include "walker/base/byte_sink.h"
#include "walker/export/shown_recording.h"

namespace mixwalk {

// The trace event format of Chrome, which Perfetto and others read too. It has slices (events B and E) per thread, with
// times in microseconds since the recording began. A frame that is on the stacks of consecutive samples is one slice. A
// sample lasts until the next one of its thread, but if that comes later than after twice the period, the sample lasts
// for its own value. Samples of moments (a dump, exceptions, allocations, loads) last a microsecond, so that they are
// visible. Of several samples of one thread with the same time, only the last has a slice.
bool write_chrome_trace(const ShownRecording& shown, ByteSink& sink);

}  // namespace mixwalk
