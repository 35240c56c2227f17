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

Stack to_stack(const Recording& recording, std::uint32_t leaf) {
  Stack stack;
  stack.engine = recording.engine;
  for (const std::uint32_t index : stack_frames(recording, leaf)) {
    stack.frames.emplace_back(Frame(recording.frames[index]));
  }
  return stack;
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

Recording to_recording(const Snapshot& snapshot) {
  RecordingBuilder builder;
  Recording& recording = builder.recording();
  recording.tool_version = snapshot.tool_version;
  recording.unix_time_ms = snapshot.unix_time_ms;
  recording.process = snapshot.process;
  recording.runtime = snapshot.runtime;
  recording.engine = snapshot.engine;
  recording.modules = snapshot.modules;  // the frames' indices refer to this order
  recording.assemblies = snapshot.assemblies;
  recording.locks = snapshot.locks;
  recording.locks_missing = snapshot.locks_missing;
  recording.unasked = snapshot.unasked;
  recording.crash = snapshot.crash;
  recording.some_threads = snapshot.omissions.threads;
  for (const Thread& thread : snapshot.threads) {
    Recording::Sample sample;
    sample.thread = builder.add_thread(thread.os_id, thread.clr_id, thread.name);
    recording.threads[sample.thread].created = thread.created;
    recording.threads[sample.thread].cpu = thread.cpu;
    sample.stack = builder.add_stack(thread.stack);
    if (!thread.skipped.empty()) sample.detail = builder.add_detail(thread.skipped);
    recording.samples.push_back(sample);
  }
  return std::move(recording);
}

Snapshot to_snapshot(const Recording& recording) {
  Snapshot snapshot{.tool_version = recording.tool_version,
                    .unix_time_ms = recording.unix_time_ms,
                    .process = recording.process,
                    .runtime = recording.runtime,
                    .engine = recording.engine,
                    .modules = recording.modules,
                    .assemblies = recording.assemblies,
                    .threads = {},
                    .unasked = recording.unasked,
                    .locks = recording.locks,
                    .locks_missing = recording.locks_missing,
                    .omissions = {.threads = recording.some_threads},
                    .crash = recording.crash};
  for (const Recording::Sample& sample : recording.samples) {
    const Recording::ThreadInfo& from = recording.threads[sample.thread];
    Thread& thread = snapshot.threads.emplace_back();
    thread.os_id = from.os_id;
    thread.clr_id = from.clr_id;
    thread.name = from.name;
    thread.created = from.created;
    thread.cpu = from.cpu;
    thread.stack = to_stack(recording, sample.stack);
    if (sample.detail != Recording::kNone) thread.skipped = recording.details[sample.detail];
  }
  return snapshot;
}

}  // namespace mixwalk
