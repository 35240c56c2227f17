#include "walker/model/recording_filter.h"

#include <unordered_map>

#include "walker/model/recording_builder.h"

namespace mixwalk {

Recording filtered(Recording recording, const FrameFilter& filter) {
  if (!filter.managed_only && !filter.depth) return recording;
  std::vector<Recording::Node> nodes;
  std::unordered_map<std::uint64_t, std::uint32_t> known;    // caller << 32 | frame → node
  std::unordered_map<std::uint32_t, std::uint32_t> replaced;  // old leaf → new leaf
  for (Recording::Sample& sample : recording.samples) {
    if (sample.stack == Recording::kNone) continue;
    const auto [at, added] = replaced.try_emplace(sample.stack, Recording::kNone);
    if (added) {
      std::vector<std::uint32_t> frames = stack_frames(recording, sample.stack);
      if (filter.managed_only) {
        std::erase_if(frames, [&](std::uint32_t frame) {
          return recording.frames[frame].kind != FrameKind::managed;
        });
      }
      if (filter.depth && frames.size() > *filter.depth) frames.resize(*filter.depth);
      for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
        const std::uint64_t key = std::uint64_t{at->second} << 32 | *frame;
        const auto [node, fresh] = known.try_emplace(key, static_cast<std::uint32_t>(nodes.size()));
        if (fresh) nodes.push_back({at->second, *frame});
        at->second = node->second;
      }
    }
    sample.stack = at->second;
  }
  recording.nodes = std::move(nodes);
  return recording;
}

}  // namespace mixwalk
