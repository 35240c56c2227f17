#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "walker/export/recorded_stacks.h"

namespace mixwalk {

// A place in the code with the functions that were inlined there, as in pprof and OTLP: one real frame and the frames
// inlined into it.
struct Location {
  std::int32_t module = Frame::kNone;
  // Inside the instruction that runs: a return address is moved back onto its call. 0 for a word.
  std::uint64_t address = 0;
  std::vector<std::uint32_t> frames;  // of RecordedStacks::frames(), innermost first
};

// The locations of the stacks that samples have.
class Locations {
 public:
  explicit Locations(const RecordedStacks& stacks);

  const std::vector<Location>& locations() const noexcept { return locations_; }
  // The locations of a sample's stack, by its leaf node, leaf first. Valid until the next call.
  const std::vector<std::uint32_t>& of_stack(std::uint32_t node);

 private:
  std::uint32_t intern(const RecordedStacks& stacks, std::vector<std::uint32_t> frames);

  struct Step {
    std::uint32_t location = 0;               // of a node with those that it is inlined into
    std::uint32_t caller = Recording::kNone;  // the node to go on with
  };

  std::vector<Location> locations_;
  std::vector<Step> steps_;  // by node
  std::unordered_map<std::uint32_t, std::uint32_t> plain_;  // a frame by itself
  std::vector<std::uint32_t> path_;
};

}  // namespace mixwalk
