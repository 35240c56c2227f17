#include "walker/export/frame_selection.h"

namespace mixwalk {

FrameSelection select_frames(const Stack& stack, const FrameFilter& filter) {
  FrameSelection selection;
  for (std::size_t i = 0; i < stack.frames.size(); ++i) {
    if (filter.managed_only && stack.frames[i].kind != FrameKind::managed) continue;
    if (filter.depth && selection.frames.size() >= *filter.depth) {
      ++selection.beyond_depth;
    } else {
      selection.frames.push_back(i);
    }
  }
  return selection;
}

FrameCounts count_frames(const Stack& stack) {
  FrameCounts counts;
  for (const Frame& frame : stack.frames) {
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
