#pragma once

#include "walker/model/recording.h"

namespace mixwalk {

// The threads of representative_snapshot() at three moments: twelve samples with one of everything. The recording is so
// small that every beginning and every bit of its file can be tried. It is stored as tests/golden/wall.mixwalk, so it
// must not change.
Recording wall_recording();

}  // namespace mixwalk
