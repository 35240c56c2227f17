#include "walker/model/stack.h"

#include <algorithm>

namespace mixwalk {

Completeness Stack::completeness() const noexcept {
  const auto is_open = [](const Run& run) { return run.end == RunEnd::open; };
  if (frames.empty() || std::ranges::any_of(runs, is_open)) return Completeness::partial;
  const auto is_guessed = [](const Frame& frame) { return is_guess(frame.trust); };
  return std::ranges::any_of(frames, is_guessed) ? Completeness::guessed : Completeness::whole;
}

OpenReason Stack::why_missing(const Frame& frame) const noexcept {
  const bool open = frame.kind == FrameKind::gap && frame.run != Frame::kNone;
  return open ? runs[static_cast<std::size_t>(frame.run)].why : OpenReason::none;
}

}  // namespace mixwalk
