#pragma once

#include "walker/export/exporter.h"
#include "walker/model/recording.h"

namespace mixwalk {

// The recording with the stacks that the filter leaves: of exceptions from the frame that threw on,
// managed frames only, or the first so many, leaf first, of what is left. The same samples; frames that no stack has any more stay in the table.
Recording filtered(Recording recording, const FrameFilter& filter);

}  // namespace mixwalk
