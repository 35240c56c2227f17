#include "walker/shown/frame_selection.h"

namespace mixwalk {

FrameSelection select_frames(const FrameFilter& filter, const std::vector<const Frame*>& frames) {
  FrameSelection selection;
  std::size_t real = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (filter.managed_only && frames[i]->kind != FrameKind::managed) continue;
    // The frame into which a call is inlined comes after the call.
    if (filter.depth && real >= *filter.depth) {
      selection.beyond_depth += frames[i]->inline_depth == 0;
    } else {
      selection.frames.push_back(i);
      real += frames[i]->inline_depth == 0;
    }
  }
  return selection;
}

FrameSelection select_frames(const FrameFilter& filter, const Stack& stack) {
  std::vector<const Frame*> frames;
  frames.reserve(stack.frames.size());
  for (const Frame& frame : stack.frames) frames.push_back(&frame);
  return select_frames(filter, frames);
}

FrameCounts count_frames(const Stack& stack) {
  FrameCounts counts;
  for (const Frame& frame : stack.frames) {
    if (frame.inline_depth != 0) {
      ++counts.inlined;
      continue;
    }
    counts.guessed += is_guess(frame.trust);
    switch (frame.kind) {
      case FrameKind::managed: ++counts.managed; break;
      case FrameKind::native: ++counts.native; break;
      case FrameKind::stub: ++counts.stubs; break;
      case FrameKind::gap: ++counts.gaps; break;
    }
  }
  return counts;
}

}  // namespace mixwalk
