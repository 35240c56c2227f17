#pragma once

#include <string>

#include "walker/cli/options/options.h"
#include "walker/cli/output/write_output.h"
#include "walker/model/recording.h"

namespace mixwalk {

// A recording over time, as it was named on the command line.
struct NamedRecording {
  std::string file;
  Recording recording;
};

// mixwalk compare of two recordings. Failures are reported. Returns ExitCode::ok if the two could be compared, because
// a recording does not show what is stuck. `note`: about the files, for the page; may be empty.
ExitCode compare_recordings(const HangCommand& command, bool colour, NamedRecording first, NamedRecording second,
                            const std::string& note, Output& output);

}  // namespace mixwalk
