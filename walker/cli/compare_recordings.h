#pragma once

#include <string>

#include "walker/base/partial_file.h"
#include "walker/cli/options/options.h"
#include "walker/model/recording.h"

namespace mixwalk {

// A recording over time, as it was named on the command line.
struct NamedRecording {
  std::string file;
  Recording recording;
};

// mixwalk compare of two recordings. `file`: where the result is written; null for standard output. Failures are
// reported. Returns ExitCode::ok if the two could be compared, because a recording does not show what is stuck.
ExitCode compare_recordings(const HangCommand& command, bool colour, NamedRecording first, NamedRecording second,
                            PartialFile* file);

}  // namespace mixwalk
