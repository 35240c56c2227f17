#include "tests/walker/store/wall_recording.h"

#include "tests/builders/snapshot_builder.h"
#include "walker/model/recording_builder.h"

namespace mixwalk {

Recording wall_recording() {
  const Snapshot snapshot = representative_snapshot();
  RecordingBuilder builder;
  Recording& recording = builder.recording();
  recording.tool_version = "0.0.0";
  recording.unix_time_ms = snapshot.unix_time_ms;
  recording.duration_ns = 50'000'000;
  recording.period_ns = 10'000'000;
  recording.event = SampleEvent::wall;
  recording.process = snapshot.process;
  recording.runtime = snapshot.runtime;
  recording.engine = Engine::copy;
  recording.dropped = 3;
  recording.modules = snapshot.modules;
  recording.assemblies = snapshot.assemblies;
  for (std::uint64_t tick = 0; tick < 3; ++tick) {
    for (const Thread& thread : snapshot.threads) {
      Recording::Sample sample{.time_ns = tick * 10'000'000 + recording.samples.size() * 1'000,
                               .value = 10'000'000 + tick};
      sample.thread = builder.add_thread(thread.os_id, thread.clr_id, thread.name);
      Stack stack = thread.stack;
      // The thread has moved: its leaf is another one, and its callers are the same.
      if (tick == 2 && !stack.frames.empty()) stack.frames.front().address += 0x10;
      sample.stack = builder.add_stack(stack);
      if (!thread.skipped.empty()) sample.detail = builder.add_detail(thread.skipped);
      recording.samples.push_back(sample);
    }
  }
  // A function that was inlined into the first frame.
  Frame inlined = recording.frames[recording.nodes[recording.samples[0].stack].frame];
  inlined.inline_depth = 1;
  inlined.name = "inlined_wait";
  inlined.displacement = 0;
  recording.frames.push_back(inlined);
  recording.nodes.push_back({.parent = recording.samples[0].stack,
                             .frame = static_cast<std::uint32_t>(recording.frames.size() - 1)});
  recording.samples.back().stack = static_cast<std::uint32_t>(recording.nodes.size() - 1);
  return recording;
}

}  // namespace mixwalk
