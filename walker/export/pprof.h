#pragma once

#include "walker/base/byte_sink.h"
#include "walker/export/shown_recording.h"

namespace mixwalk {

// profile.proto of pprof, compressed with gzip. Samples of the same thread and stack become one pprof sample. If the
// event has a time, that sample has two values: the number of samples, and the nanoseconds. Its labels are `thread`
// (name), `tid` (number) and `kind` (of the leaf frame: managed, native, stub, gap; `none` for a sample without a
// stack). A native frame without a name has an address and no function, so that pprof can name it. The `build_id` of an
// image is its code_id().
bool write_pprof(const ShownRecording& shown, ByteSink& sink);

}  // namespace mixwalk
