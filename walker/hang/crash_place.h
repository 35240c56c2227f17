#pragma once

#include <cstdint>

#include "walker/hang/frame_names.h"
#include "walker/hang/wait.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// Where the crash of a dump happened, in the stacks of the dump.
struct CrashPlace {
  const Thread* thread = nullptr;  // null if the dump does not show the thread
  // Indices into its Stack::frames, or kNoFrame.
  std::uint32_t frame = kNoFrame;    // the frame that raised the exception
  std::uint32_t program = kNoFrame;  // the first frame of the program from the leaf on
};

// Returns an empty place for a dump without a crash. Pure.
CrashPlace crash_place(const FrameNames& names);

}  // namespace mixwalk
