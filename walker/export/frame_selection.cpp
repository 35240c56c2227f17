#include "walker/export/frame_selection.h"

namespace mixwalk {

FrameSelection select_frames(const FrameFilter& filter, std::span<const FrameKind> kinds) {
  FrameSelection selection;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (filter.managed_only && kinds[i] != FrameKind::managed) continue;
    if (filter.depth && selection.frames.size() >= *filter.depth) {
      ++selection.beyond_depth;
    } else {
      selection.frames.push_back(i);
    }
  }
  return selection;
}

FrameSelection select_frames(const FrameFilter& filter, const Stack& stack) {
  std::vector<FrameKind> kinds;
  kinds.reserve(stack.frames.size());
  for (const Frame& frame : stack.frames) kinds.push_back(frame.kind);
  return select_frames(filter, kinds);
}

FrameCounts count_frames(const Stack& stack) {
  FrameCounts counts;
  for (const Frame& frame : stack.frames) {
    if (frame.inline_depth != 0) {
      ++counts.inlined;
      continue;
    }
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
