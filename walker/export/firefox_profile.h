#pragma once

#include "walker/base/byte_sink.h"
#include "walker/export/shown_recording.h"

namespace mixwalk {

// The processed profile format of the Firefox Profiler, version 60. Later versions of the Profiler open it too. The
// threads share their tables. The category of a frame is its kind (managed code, native code, the runtime's own images,
// code that the runtime made). A sample's weight is its time in milliseconds, or its count.
bool write_firefox_profile(const ShownRecording& shown, ByteSink& sink);
inline constexpr int kFirefoxProfileVersion = 60;

}  // namespace mixwalk
