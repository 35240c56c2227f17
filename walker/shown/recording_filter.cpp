#include "walker/shown/recording_filter.h"

#include <optional>
#include <unordered_map>

#include "walker/model/recording_builder.h"
#include "walker/shown/frame_selection.h"
#include "walker/shown/throw_machinery.h"

namespace mixwalk {

Recording filtered(Recording recording, const FrameFilter& filter) {
  const bool of_thrower = recording.event == SampleEvent::exception && !filter.all;
  if (!of_thrower && !filter.managed_only && !filter.depth) return recording;
  const std::optional<ThrowMachinery> machinery =
      of_thrower ? std::optional<ThrowMachinery>(recording) : std::nullopt;
  RecordingBuilder kept;
  std::unordered_map<std::uint32_t, std::uint32_t> replaced;  // old leaf → new leaf
  for (Recording::Sample& sample : recording.samples) {
    const auto [at, added] = replaced.try_emplace(sample.stack, Recording::kNone);
    if (added) {
      std::vector<std::uint32_t> frames = stack_frames(recording, sample.stack);
      if (machinery) {
        const auto first = static_cast<std::ptrdiff_t>(machinery->frames_of(frames));
        frames.erase(frames.begin(), frames.begin() + first);
      }
      std::vector<const Frame*> all;
      for (const std::uint32_t frame : frames) all.push_back(&recording.frames[frame]);
      std::vector<std::uint32_t> selected;
      for (const std::size_t i : select_frames(filter, all).frames) selected.push_back(frames[i]);
      at->second = kept.add_path(selected);
    }
    sample.stack = at->second;
  }
  recording.nodes = std::move(kept.recording().nodes);
  return recording;
}

}  // namespace mixwalk
