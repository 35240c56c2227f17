#pragma once

#include "walker/base/byte_sink.h"
#include "walker/export/shown_recording.h"

namespace mixwalk {

// The file format of speedscope, by the JSON schema that speedscope publishes. There is one sampled profile per thread,
// in the order of the recording's threads, with stacks root first. The weights are Sample::value, in nanoseconds, or
// without a unit if it is a count.
bool write_speedscope(const ShownRecording& shown, ByteSink& sink);

}  // namespace mixwalk
