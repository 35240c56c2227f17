#include "walker/shown/recording_difference.h"

#include <map>
#include <utility>

#include "walker/shown/shown_stacks.h"
#include "walker/shown/words.h"

namespace mixwalk {
namespace {

// The frames of both recordings, and the index of each, by its kind and label.
struct Frames {
  std::vector<FrameDifference> all;
  std::map<std::pair<char, std::string>, std::size_t> places;

  std::size_t place(char kind, const std::string& label) {
    const auto [at, is_new] = places.try_emplace({kind, label}, all.size());
    if (is_new) all.push_back({kind, label, {}, {}});
    return at->second;
  }
};

// Sums are doubles, because a sum of 64-bit values may need more than 64 bits.
double total_of(const Recording& recording) {
  double total = 0;
  for (const Recording::Sample& sample : recording.samples) total += static_cast<double>(sample.value);
  return total;
}

void add(const Recording& recording, FrameShare FrameDifference::* side, Frames& frames) {
  const ShownStacks stacks(recording);
  const double total = total_of(recording);
  if (total == 0) return;
  std::vector<std::size_t> places;  // for each frame of the recording
  places.reserve(stacks.frames().size());
  for (const ShownStacks::Frame& frame : stacks.frames()) {
    places.push_back(frames.place(frame.frame == nullptr ? 'W' : letter(frame.frame->kind),
                                  std::string(frame.plain_label())));
  }
  const std::vector<SampleSum> sums = sum_samples(recording, stacks.leaves(), false);
  std::vector<std::size_t> counted(frames.all.size(), sums.size());  // the last stack that a frame was counted for
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double share = static_cast<double>(sums[i].value) / total;
    std::uint32_t node = sums[i].stack;
    (frames.all[places[stacks.nodes()[node].frame]].*side).self += share;
    for (; node != Recording::kNone; node = stacks.nodes()[node].parent) {
      const std::size_t place = places[stacks.nodes()[node].frame];
      if (std::exchange(counted[place], i) != i) (frames.all[place].*side).total += share;
    }
  }
}

}  // namespace

std::vector<FrameDifference> recording_difference(const Recording& before, const Recording& after) {
  Frames frames;
  add(before, &FrameDifference::before, frames);
  add(after, &FrameDifference::after, frames);
  // A table may contain frames that are on no stack, because a filter leaves them in the table.
  std::erase_if(frames.all,
                [](const FrameDifference& frame) { return frame.before.total == 0 && frame.after.total == 0; });
  return std::move(frames.all);
}

std::string difference_refusal(const Recording& before, const Recording& after) {
  if (before.event != after.event) {
    return "one recording is of \"" + std::string(enum_name(before.event)) + "\" and the other of \"" +
           std::string(enum_name(after.event)) + "\"";
  }
  if (total_of(before) == 0 || total_of(after) == 0) return "one of the recordings has no samples";
  return {};
}

}  // namespace mixwalk
