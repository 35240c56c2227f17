#include "walker/model/stack.h"

#include <algorithm>

namespace mixwalk {

std::vector<Run> Stack::runs() const {
  if (!runs_of_whole.empty()) return runs_of_whole;
  std::vector<Run> runs;
  bool managed_seen = false, in_run = false;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].kind == FrameKind::managed) {
      if (in_run) runs.back().end = RunEnd::closed;
      in_run = false;
      managed_seen = true;
      continue;
    }
    if (!in_run) {
      runs.push_back({.position = managed_seen ? RunPosition::middle : RunPosition::leaf,
                      .end = RunEnd::root,
                      .first_frame = static_cast<std::uint32_t>(i)});
    }
    Run& run = runs.back();
    ++run.frame_count;
    in_run = frames[i].kind != FrameKind::gap;
    if (in_run) continue;
    run.end = RunEnd::open;
    run.why = frames[i].why;
    if (i + 1 == frames.size() && managed_seen) run.position = RunPosition::root;
  }
  if (in_run) runs.back().position = managed_seen ? RunPosition::root : RunPosition::whole;
  return runs;
}

std::vector<std::int32_t> Stack::run_of_frames(const std::vector<Run>& runs) const {
  std::vector<std::int32_t> run_of(frames.size(), Frame::kNone);
  std::int32_t number = 0;
  for (const Run& run : runs) {
    const std::size_t end = std::min<std::size_t>(std::size_t{run.first_frame} + run.frame_count, frames.size());
    for (std::size_t i = run.first_frame; i < end; ++i) run_of[i] = number;
    ++number;
  }
  return run_of;
}

Completeness Stack::completeness() const noexcept {
  const auto is_gap = [](const Frame& frame) { return frame.kind == FrameKind::gap; };
  const auto is_open = [](const Run& run) { return run.end == RunEnd::open; };
  const bool open = std::ranges::any_of(frames, is_gap) || std::ranges::any_of(runs_of_whole, is_open);
  if (frames.empty() || open) return Completeness::partial;
  const auto is_guessed = [](const Frame& frame) { return is_guess(frame.trust); };
  return std::ranges::any_of(frames, is_guessed) ? Completeness::guessed : Completeness::whole;
}

}  // namespace mixwalk
