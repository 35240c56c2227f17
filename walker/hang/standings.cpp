#include "walker/hang/standings.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "walker/hang/waits.h"

namespace mixwalk {
namespace {

// These rules have an unknown state because they do not show whether the thread waits at all.
bool may_run(std::string_view rule) { return rule == "system-call" || rule == "socket-begin"; }

}  // namespace

Standing standing_of(const Wait& wait) noexcept {
  switch (wait.state) {
    case WaitState::runs: return Standing::runs;
    case WaitState::idle: return Standing::idle;
    case WaitState::outside:
    case WaitState::signal:
    case WaitState::blocked:
    case WaitState::calls: return Standing::waits;
    // The thread waits, and its frames do not say for what.
    case WaitState::unknown: return wait.rule.empty() || may_run(wait.rule) ? Standing::unknown : Standing::waits;
  }
  return Standing::unknown;
}

Standing standing_of(const FrameNames& names, const Thread& thread) { return standing_of(wait_of(names, thread)); }

void RecordedStandings::meet_images(const Recording& recording) {
  const bool same = names_ && images_.modules.size() == recording.modules.size() &&
                    images_.assemblies.size() == recording.assemblies.size();
  if (same) return;
  images_.process = recording.process;
  images_.modules = recording.modules;
  images_.assemblies = recording.assemblies;
  names_.emplace(images_);
}

Standing RecordedStandings::of(const Recording& recording, std::uint32_t leaf) const {
  Thread thread;
  for (std::uint32_t node = leaf; node != Recording::kNone && thread.stack.frames.size() < kMaxWaitFrames;
       node = recording.nodes[node].parent) {
    thread.stack.frames.emplace_back(Frame(recording.frames[recording.nodes[node].frame]));
  }
  return standing_of(*names_, thread);
}

void RecordedStandings::mark(Recording& recording, std::size_t first) {
  if (is_moment(recording.event)) return;
  meet_images(recording);
  known_.resize(recording.nodes.size());
  for (Recording::Sample& sample : std::span(recording.samples).subspan(first)) {
    if (sample.stack == Recording::kNone) continue;
    std::optional<Standing>& known = known_[sample.stack];
    if (!known) known = of(recording, sample.stack);
    sample.standing = *known;
  }
}

void mark_standings(Recording& recording) { RecordedStandings().mark(recording, 0); }

void complete_standings(Recording& recording) {
  const auto has_one = [](const Recording::Sample& sample) { return sample.standing != Standing::unknown; };
  if (std::ranges::none_of(recording.samples, has_one)) mark_standings(recording);
}

}  // namespace mixwalk
