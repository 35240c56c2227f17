#include "walker/model/recording_builder.h"

#include <functional>

namespace mixwalk {
namespace {

// Uses try_emplace, since emplace makes a node before it searches.
template <typename Map, typename Value>
std::uint32_t intern(Map& seen, const typename Map::key_type& key, std::vector<Value>& table,
                     const Value& value) {
  const auto [at, added] = seen.try_emplace(key, static_cast<std::uint32_t>(table.size()));
  if (added) table.push_back(value);
  return at->second;
}

}  // namespace

// The name follows from these values, except in two rare cases: a gap, and a module that replaced another one.
std::size_t RecordingBuilder::FrameHash::operator()(const Frame& frame) const noexcept {
  std::size_t hash = std::hash<std::uint64_t>{}(frame.address);
  hash = hash * 31 + std::hash<std::uint64_t>{}(frame.function);
  hash = hash * 31 + frame.inline_depth;
  return hash * 31 + static_cast<std::size_t>(frame.kind);
}

std::uint32_t RecordingBuilder::add_stack(const Stack& stack) {
  std::uint32_t node = Recording::kNone;
  for (auto frame = stack.frames.rbegin(); frame != stack.frames.rend(); ++frame) {
    node = add_node(node, add_frame(*frame));
  }
  return node;
}

std::uint32_t RecordingBuilder::add_frame(const Frame& frame) {
  return intern(frames_, frame, recording_.frames, frame);
}

std::uint32_t RecordingBuilder::add_node(std::uint32_t parent, std::uint32_t frame) {
  const std::uint64_t key = std::uint64_t{parent} << 32 | frame;
  return intern(nodes_, key, recording_.nodes, Recording::Node{parent, frame});
}

std::uint32_t RecordingBuilder::add_path(const std::vector<std::uint32_t>& frames) {
  std::uint32_t node = Recording::kNone;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) node = add_node(node, *frame);
  return node;
}

std::uint32_t RecordingBuilder::add_thread(std::uint32_t os_id, std::uint64_t clr_id,
                                           std::string_view name) {
  // The system reuses the id of a thread that has ended. The CLR's id distinguishes two managed threads with the same
  // OS id; a thread that begins to run managed code is shown as a new thread from then on.
  const std::uint64_t key = clr_id * 0x9E3779B97F4A7C15u ^ os_id;
  const std::uint32_t index =
      intern(threads_, key, recording_.threads, Recording::ThreadInfo{os_id, clr_id, {}});
  if (!name.empty()) recording_.threads[index].name = name;
  return index;
}

std::uint32_t RecordingBuilder::add_detail(std::string_view text) {
  return intern(details_, std::string(text), recording_.details, std::string(text));
}

std::uint32_t RecordingBuilder::add_module(const Module& module) {
  // Different images may be loaded at one base, one after another.
  const auto [first, last] = modules_.equal_range(module.base);
  for (auto at = first; at != last; ++at) {
    if (recording_.modules[at->second] == module) return at->second;
  }
  const auto index = static_cast<std::uint32_t>(recording_.modules.size());
  recording_.modules.push_back(module);
  modules_.emplace(module.base, index);
  return index;
}

std::uint32_t RecordingBuilder::add_assembly(const Assembly& assembly) {
  return intern(assemblies_, assembly, recording_.assemblies, assembly);
}

}  // namespace mixwalk
