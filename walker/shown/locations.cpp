#include "walker/shown/locations.h"

namespace mixwalk {
namespace {

// How deep a frame is inlined, or 0 if it is a real frame.
unsigned depth(const ShownStacks& stacks, std::uint32_t node) {
  const Frame* frame = stacks.frames()[stacks.nodes()[node].frame].frame;
  return frame == nullptr ? 0 : frame->inline_depth;
}

// Returns the caller of a node's location: the node after the real frame into which this node is inlined. Fills
// `frames` with the frames of the location.
std::uint32_t caller_of(const ShownStacks& stacks, std::uint32_t node,
                        std::vector<std::uint32_t>& frames) {
  frames = {stacks.nodes()[node].frame};
  std::uint32_t next = stacks.nodes()[node].parent;
  while (next != Recording::kNone && depth(stacks, next) < depth(stacks, node)) {
    frames.push_back(stacks.nodes()[next].frame);
    node = next;
    next = stacks.nodes()[node].parent;
  }
  return next;
}

}  // namespace

Locations::Locations(const ShownStacks& stacks) {
  std::vector<bool> used(stacks.nodes().size(), false);
  for (const std::uint32_t leaf : stacks.leaves()) used[leaf] = true;
  std::vector<std::uint32_t> frames;
  // A parent precedes its children, so one pass from the end finds all of them.
  for (std::size_t i = used.size(); i-- != 0;) {
    if (!used[i]) continue;
    const std::uint32_t caller = caller_of(stacks, static_cast<std::uint32_t>(i), frames);
    if (caller != Recording::kNone) used[caller] = true;
  }
  steps_.resize(used.size());
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    steps_[i].caller = caller_of(stacks, static_cast<std::uint32_t>(i), frames);
    steps_[i].location = intern(stacks, frames);
  }
}

std::uint32_t Locations::intern(const ShownStacks& stacks, std::vector<std::uint32_t> frames) {
  const auto next = static_cast<std::uint32_t>(locations_.size());
  // Locations with inlined frames are rare, so duplicates of them do no harm.
  if (frames.size() == 1) {
    const auto [at, added] = plain_.emplace(frames.front(), next);
    if (!added) return at->second;
  }
  Location location;
  if (const Frame* real = stacks.frames()[frames.back()].frame) {
    location.module = real->module;
    location.address = CodeAddress{real->address, real->address_kind}.lookup();
  }
  location.frames = std::move(frames);
  locations_.push_back(std::move(location));
  return next;
}

const std::vector<std::uint32_t>& Locations::of_stack(std::uint32_t node) {
  path_.clear();
  for (; node != Recording::kNone; node = steps_[node].caller) {
    path_.push_back(steps_[node].location);
  }
  return path_;
}

}  // namespace mixwalk
