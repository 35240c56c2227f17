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

// Where time went in one recording and not in another, for a person: the frames whose shares of the total grew and
// shrank most, in themselves and with what they call. `files`: as they were named. Names are untrusted: what could move
// a terminal comes out escaped (printable.h). For recordings without difference_refusal(). False: the sink refused.
bool write_difference_text(const Recording& before, const Recording& after, const std::array<std::string, 2>& files,
                           const DifferenceTextOptions& options, ByteSink& sink);

}  // namespace mixwalk
