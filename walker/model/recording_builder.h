#pragma once

#include <cstdint>
#include <string_view>
#include <map>
#include <unordered_map>

#include "walker/model/recording.h"

namespace mixwalk {

// Makes a Recording from stacks as they come, interning what repeats. Not frozen-safe.
class RecordingBuilder {
 public:
  // Interns the stack's frames. Returns the leaf's node, or kNone for a stack without frames. The module indices of the
  // frames must already be the recording's own.
  std::uint32_t add_stack(const Stack& stack);
  std::uint32_t add_frame(const Frame& frame);
  std::uint32_t add_node(std::uint32_t parent, std::uint32_t frame);
  // As add_stack, of frames that were added already, leaf first.
  std::uint32_t add_path(const std::vector<std::uint32_t>& frames);
  std::uint32_t add_thread(std::uint32_t os_id, std::uint64_t clr_id, std::string_view name);
  std::uint32_t add_detail(std::string_view text);
  std::uint32_t add_module(const Module& module);
  std::uint32_t add_assembly(const Assembly& assembly);

  Recording& recording() noexcept { return recording_; }

 private:
  struct FrameHash {
    std::size_t operator()(const Frame& frame) const noexcept;
  };

  Recording recording_;
  std::unordered_map<Frame, std::uint32_t, FrameHash> frames_;
  std::unordered_map<std::uint64_t, std::uint32_t> nodes_;  // parent << 32 | frame
  std::unordered_map<std::uint64_t, std::uint32_t> threads_;
  std::unordered_map<std::string, std::uint32_t> details_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> modules_;  // by their bases
  std::map<Assembly, std::uint32_t> assemblies_;
};

}  // namespace mixwalk
