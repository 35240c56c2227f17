#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "walker/model/snapshot.h"

namespace mixwalk {

// The frames that every format leaves out on request.
struct FrameFilter {
  bool managed_only = false;
  std::optional<std::uint32_t> depth;  // only this many of the remaining frames, leaf first
  // Whether all frames are shown. These include, for recorded exceptions, the runtime's throw machinery
  // (throw_machinery.h) and, in text, each frame of the runtime that has no name (runtime_frames.h).
  bool all = false;
};

// The frames of a stack that a filter keeps, by index, leaf first. A depth counts real frames; the calls that are
// inlined into a frame are kept or left out together with it.
struct FrameSelection {
  std::vector<std::size_t> frames;
  std::size_t beyond_depth = 0;  // how many more real frames the depth cut off
};
FrameSelection select_frames(const FrameFilter& filter, const std::vector<const Frame*>& frames);
FrameSelection select_frames(const FrameFilter& filter, const Stack& stack);

// How many frames of each kind a stack has. Inlined calls do not count as frames.
struct FrameCounts {
  std::size_t managed = 0, native = 0, stubs = 0, gaps = 0, inlined = 0;
  std::size_t guessed = 0;  // how many of the frames were guessed
  std::size_t frames() const noexcept { return managed + native + stubs; }
};
FrameCounts count_frames(const Stack& stack);

}  // namespace mixwalk
