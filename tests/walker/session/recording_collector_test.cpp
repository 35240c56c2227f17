#include "walker/session/recording_collector.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/builders/snapshot_builder.h"
#include "walker/model/series.h"
#include "walker/store/recording_writer.h"

namespace mixwalk {
namespace {

std::vector<Frame> no_names(Frame frame, const Module&) { return {std::move(frame)}; }

// Returns a file of a target that has recorded a snapshot `times` times.
std::string file_of(const Snapshot& snapshot, int times, std::uint64_t first_ns,
                    std::uint64_t dropped = 0) {
  Recording recording = to_recording(snapshot);
  recording.event = SampleEvent::wall;
  const std::vector<Recording::Sample> once = recording.samples;
  recording.samples.clear();
  for (int i = 0; i < times; ++i) {
    for (Recording::Sample sample : once) {
      sample.time_ns = first_ns + static_cast<std::uint64_t>(i) * 1000;
      recording.samples.push_back(sample);
    }
  }
  recording.dropped = dropped;
  StringSink sink;
  RecordingWriter writer(sink);
  writer.begin(recording);
  writer.append(recording);
  return sink.text;
}

TEST(RecordingCollector, OneFileComesOutAsItWentIn) {
  const Snapshot snapshot = representative_snapshot();
  RecordingCollector collector(no_names);
  EXPECT_EQ(collector.add(file_of(snapshot, 3, 0), true), "");
  const Recording expected = to_recording(snapshot);
  const Recording& recording = collector.recording();
  EXPECT_EQ(recording.process, expected.process);
  EXPECT_EQ(recording.modules, expected.modules);
  EXPECT_EQ(recording.assemblies, expected.assemblies);
  EXPECT_EQ(recording.threads, expected.threads);
  EXPECT_EQ(recording.frames, expected.frames);
  EXPECT_EQ(recording.nodes, expected.nodes);
  EXPECT_EQ(recording.samples.size(), 3 * expected.samples.size());
}

TEST(RecordingCollector, ADumpKeepsItsLocksAndWhatIsMissing) {
  Snapshot snapshot = representative_snapshot();
  snapshot.unasked = "the DAC crashed";
  snapshot.locks_missing = "the time for it was over";
  const Recording dump = to_recording(snapshot);
  StringSink sink;
  RecordingWriter writer(sink);
  writer.begin(dump);
  writer.append(dump);
  RecordingCollector collector(no_names);
  EXPECT_EQ(collector.add(sink.text, true), "");
  EXPECT_EQ(collector.recording().locks, dump.locks);
  EXPECT_EQ(collector.recording().locks_missing, "the time for it was over");
  EXPECT_EQ(collector.recording().unasked, "the DAC crashed");
}

TEST(RecordingCollector, ManagedFramesGetTheirLinesByAssembly) {
  Snapshot snapshot = representative_snapshot();
  std::vector<std::string> asked;
  RecordingCollector collector(no_names, [&](Frame& frame, const Assembly& assembly) {
    asked.push_back(assembly.path + ' ' + std::to_string(frame.il.offset));
    frame.line = 7;
  });
  EXPECT_EQ(collector.add(file_of(snapshot, 1, 0), true), "");
  // The next file numbers its assemblies from the start.
  snapshot.assemblies.insert(snapshot.assemblies.begin(), Assembly{.path = "other.dll"});
  snapshot.threads[0].stack.frames[3].il.assembly = 1;
  EXPECT_EQ(collector.add(file_of(snapshot, 1, 5000), true), "");
  EXPECT_EQ(asked, (std::vector<std::string>{"C:\\orders\\orders.dll 28", "C:\\orders\\orders.dll 28"}));
  ASSERT_EQ(collector.recording().assemblies.size(), 2u);
  const auto& frames = collector.recording().frames;
  EXPECT_EQ(std::ranges::count(frames, 7u, &Frame::line), 1) << "the frame is the same";
}

TEST(RecordingCollector, AnotherFileOfTheSameStacksAddsSamplesOnly) {
  const Snapshot snapshot = representative_snapshot();
  RecordingCollector collector(no_names);
  EXPECT_EQ(collector.add(file_of(snapshot, 1, 0, 5), true), "");
  const Recording first = collector.recording();
  EXPECT_EQ(collector.add(file_of(snapshot, 1, 5000, 2), true), "");
  const Recording& both = collector.recording();
  EXPECT_EQ(both.nodes, first.nodes);
  EXPECT_EQ(both.frames, first.frames);
  ASSERT_EQ(both.samples.size(), 2 * first.samples.size());
  EXPECT_EQ(both.samples.back().stack, first.samples.back().stack);
  EXPECT_EQ(both.samples.back().time_ns, 5000u);
  EXPECT_EQ(both.dropped, 7u);
}

TEST(RecordingCollector, ASecondFileMayHaveOtherNumbers) {
  Snapshot other = representative_snapshot();
  other.modules.insert(other.modules.begin(), Module{.base = 0x1000, .size = 1, .path = "new.dll"});
  for (Thread& thread : other.threads) {
    for (Frame& frame : thread.stack.frames) {
      if (frame.module != Frame::kNone) ++frame.module;
    }
  }
  RecordingCollector collector(no_names);
  EXPECT_EQ(collector.add(file_of(representative_snapshot(), 1, 0), true), "");
  const Recording first = collector.recording();
  EXPECT_EQ(collector.add(file_of(other, 1, 1), true), "");
  EXPECT_EQ(collector.recording().frames, first.frames) << "the same modules in other places";
  EXPECT_EQ(collector.recording().modules.size(), first.modules.size() + 1);
}

TEST(RecordingCollector, NamesEachNativeFrameOnce) {
  int asked = 0;
  RecordingCollector collector([&](Frame frame, const Module& module) {
    EXPECT_EQ(frame.kind, FrameKind::native);
    EXPECT_FALSE(module.path.empty());
    frame.name = "named";
    ++asked;
    return std::vector{std::move(frame)};
  });
  const std::string file = file_of(representative_snapshot(), 4, 0);
  EXPECT_EQ(collector.add(file, true), "");
  const auto native =
      std::ranges::count_if(collector.recording().frames, [](const Frame& frame) {
        return frame.kind == FrameKind::native && frame.module != Frame::kNone;
      });
  EXPECT_GT(native, 0);
  EXPECT_EQ(asked, native) << "though four samples have them";
  // Another file has its own table of frames.
  EXPECT_EQ(collector.add(file_of(representative_snapshot(), 1, 9), true), "");
  EXPECT_EQ(asked, 2 * native);
}

TEST(RecordingCollector, InlinedCallsLieAboveTheFrameThatTheyAreInlinedInto) {
  RecordingCollector collector([](Frame frame, const Module&) {
    Frame inlined = frame;
    inlined.inline_depth = 1;
    inlined.name = "inlined into " + frame.name;
    return std::vector{inlined, frame};
  });
  const Snapshot snapshot = representative_snapshot();
  EXPECT_EQ(collector.add(file_of(snapshot, 1, 0), true), "");
  const Recording& recording = collector.recording();
  ASSERT_EQ(recording.samples.size(), snapshot.threads.size());
  for (std::size_t i = 0; i < snapshot.threads.size(); ++i) {
    std::vector<std::string> expected, found;
    for (const Frame& frame : snapshot.threads[i].stack.frames) {
      const bool in_image = frame.kind == FrameKind::native && frame.module != Frame::kNone;
      if (in_image) expected.push_back("inlined into " + frame.name);
      expected.push_back(frame.name);
    }
    for (const std::uint32_t frame : stack_frames(recording, recording.samples[i].stack)) {
      found.push_back(recording.frames[frame].name);
    }
    EXPECT_EQ(found, expected);
  }
}

TEST(RecordingCollector, Nonsense) {
  const std::string file = file_of(representative_snapshot(), 1, 0);
  RecordingCollector collector(no_names);
  EXPECT_NE(collector.add("", true), "");
  EXPECT_NE(collector.add(file.substr(1), true), "");
  EXPECT_NE(collector.add(file.substr(0, file.size() - 1), true), "");
  std::string flipped = file;
  flipped[flipped.size() / 2] ^= 1;
  EXPECT_NE(collector.add(flipped, true), "");
}

}  // namespace
}  // namespace mixwalk
