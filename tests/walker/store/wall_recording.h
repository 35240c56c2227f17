#pragma once

#include "walker/model/recording.h"

namespace mixwalk {

// The threads of representative_snapshot() at three moments: twelve samples with one of everything, small enough to try
// every beginning and every bit of its file. tests/golden/wall.mixwalk is this recording, so it must not change.
Recording wall_recording();

}  // namespace mixwalk
