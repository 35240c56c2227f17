#pragma once

#include "walker/base/byte_sink.h"
#include "walker/shown/frame_selection.h"

namespace mixwalk {

// The JSON form of a dump. docs/json.md describes it, and tests/golden/mixwalk-dump.schema.json is its schema for
// machines. The format is only ever extended; a change of meaning raises kJsonDumpVersion.
bool write_json(const Snapshot& snapshot, const FrameFilter& filter, ByteSink& sink);

inline constexpr int kJsonDumpVersion = 1;

}  // namespace mixwalk
