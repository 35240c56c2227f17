#include "walker/export/recording_filter.h"

#include <unordered_map>

#include "walker/export/frame_selection.h"
#include "walker/model/recording_builder.h"

namespace mixwalk {

Recording filtered(Recording recording, const FrameFilter& filter) {
  if (!filter.managed_only && !filter.depth) return recording;
  RecordingBuilder kept;
  std::unordered_map<std::uint32_t, std::uint32_t> replaced;  // old leaf → new leaf
  for (Recording::Sample& sample : recording.samples) {
    const auto [at, added] = replaced.try_emplace(sample.stack, Recording::kNone);
    if (added) {
      const std::vector<std::uint32_t> frames = stack_frames(recording, sample.stack);
      std::vector<FrameKind> kinds;
      for (const std::uint32_t frame : frames) kinds.push_back(recording.frames[frame].kind);
      const FrameSelection selection = select_frames(filter, kinds);
      for (auto i = selection.frames.rbegin(); i != selection.frames.rend(); ++i) {
        at->second = kept.add_node(at->second, frames[*i]);
      }
    }
    sample.stack = at->second;
  }
  recording.nodes = std::move(kept.recording().nodes);
  return recording;
}

}  // namespace mixwalk
