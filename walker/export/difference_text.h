#pragma once

#include <array>
#include <string>

#include "walker/base/byte_sink.h"
#include "walker/model/recording.h"

namespace mixwalk {

struct DifferenceTextOptions {
  bool colour = false;  // ANSI escapes
  bool all = false;     // every frame whose share differs; else the first ones of each list
};

// For a person: the frames whose shares of the total grew and shrank most from one recording to the other, both the
// frame's own share and the share with its callees. `files`: the recordings' names as the user gave them. Names are
// untrusted: what could move a terminal's cursor is escaped (printable.h). Only for recordings without
// difference_refusal(). Returns false if the sink refused.
bool write_difference_text(const Recording& before, const Recording& after, const std::array<std::string, 2>& files,
                           const DifferenceTextOptions& options, ByteSink& sink);

}  // namespace mixwalk
