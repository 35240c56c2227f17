#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "walker/shown/shown_stacks.h"

namespace mixwalk {

// A place in the code with the functions that were inlined there, as in pprof and OTLP: one real frame and the frames
// inlined into it.
struct Location {
  std::int32_t module = Frame::kNone;
  // An address inside the instruction that runs, so a return address is moved back onto its call. 0 for a word.
  std::uint64_t address = 0;
  std::vector<std::uint32_t> frames;  // indices into ShownStacks::frames(), innermost first
};

// The locations of the stacks of samples.
class Locations {
 public:
  explicit Locations(const ShownStacks& stacks);

  const std::vector<Location>& locations() const noexcept { return locations_; }
  // The locations of the stack of a sample with this leaf node, leaf first. Valid until the next call.
  const std::vector<std::uint32_t>& of_stack(std::uint32_t node);

 private:
  std::uint32_t intern(const ShownStacks& stacks, std::vector<std::uint32_t> frames);

  struct Step {
    std::uint32_t location = 0;               // the location of a node together with the nodes it is inlined into
    std::uint32_t caller = Recording::kNone;  // the node to continue with
  };

  std::vector<Location> locations_;
  std::vector<Step> steps_;  // by node
  std::unordered_map<std::uint32_t, std::uint32_t> plain_;  // the location of a frame by itself
  std::vector<std::uint32_t> path_;
};

}  // namespace mixwalk
