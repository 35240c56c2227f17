#pragma once

#include "walker/shown/frame_selection.h"
#include "walker/model/recording.h"

namespace mixwalk {

// The recording with the stacks that the filter leaves. The filter is applied in this order: of exceptions only the
// frames from the one that threw on are kept, then only managed frames, then only the first `depth` frames, leaf first.
// The samples stay the same. Frames that are on no stack any more stay in the table.
Recording filtered(Recording recording, const FrameFilter& filter);

}  // namespace mixwalk
