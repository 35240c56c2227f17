#pragma once

#include <array>
#include <string>

#include "walker/base/byte_sink.h"
#include "walker/model/recording.h"

namespace mixwalk {

struct DifferenceTextOptions {
  bool colour = false;  // ANSI escapes
  bool all = false;     // every frame whose share differs; otherwise only the first ones of each list
};

// Writes, for a person, the frames whose shares of the total grew and shrank most from one recording to the other.
// There is one list for the frame's own share, and one for the share with its callees. `files`: the recordings' names
// as the user gave them. Names are untrusted, so characters that could move a terminal's cursor are escaped
// (printable.h). Only for recordings without difference_refusal(). Returns false if the sink refused.
bool write_difference_text(const Recording& before, const Recording& after, const std::array<std::string, 2>& files,
                           const DifferenceTextOptions& options, ByteSink& sink);

}  // namespace mixwalk
