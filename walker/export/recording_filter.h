#pragma once

#include "walker/export/exporter.h"
#include "walker/model/recording.h"

namespace mixwalk {

// The recording with the stacks that the filter leaves: of exceptions the frames from the one that threw on, then
// managed frames only, then the first `depth` frames, leaf first. The samples stay the same; frames that no stack has
// any more stay in the table.
Recording filtered(Recording recording, const FrameFilter& filter);

}  // namespace mixwalk
