#include "walker/shown/recording_difference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/builders/recordings.h"
#include "tests/builders/report_samples.h"
#include "walker/base/byte_sink.h"
#include "walker/export/difference_text.h"

namespace mixwalk {
namespace {

const FrameDifference* find(const std::vector<FrameDifference>& frames, const std::string& label) {
  const auto found = std::ranges::find(frames, label, &FrameDifference::label);
  return found == frames.end() ? nullptr : &*found;
}

std::string text(const Recording& before, const Recording& after, const DifferenceTextOptions& options = {}) {
  StringSink sink;
  EXPECT_TRUE(write_difference_text(before, after, {"a.mixwalk", "b.mixwalk"}, options, sink));
  return sink.text;
}

TEST(RecordingDifference, SharesAreOfEachRecordingsOwnTotal) {
  const auto [before, after] = compared_recordings();
  const std::vector<FrameDifference> frames = recording_difference(before, after);
  const FrameDifference* const price = find(frames, "Orders.Service.Price(int)");
  ASSERT_NE(price, nullptr);
  EXPECT_EQ(price->kind, 'M');
  EXPECT_NEAR(price->before.total, 20.0 / 300, 1e-9);
  EXPECT_NEAR(price->after.total, 30.0 / 170, 1e-9);
  EXPECT_EQ(price->before.self, 0);
  const FrameDifference* const step = find(frames, "e_sqlite3.dll!sqlite3_step");
  ASSERT_NE(step, nullptr) << "of two addresses, and one function";
  EXPECT_NEAR(step->after.self - step->before.self, 30.0 / 170 - 20.0 / 300, 1e-9);
  const FrameDifference* const start = find(frames, "ntdll.dll!RtlUserThreadStart");
  EXPECT_NEAR(start->after.total, start->before.total, 1e-9);
}

TEST(RecordingDifference, AFrameOfOneRecordingHasNoShareOfTheOther) {
  const auto [before, after] = compared_recordings();
  const std::vector<FrameDifference> frames = recording_difference(before, after);
  EXPECT_EQ(find(frames, "Orders.Service.Log(string)")->after, FrameShare());
  EXPECT_EQ(find(frames, "Orders.Service.Audit<script>alert(1)</script>")->before, FrameShare());
}

TEST(RecordingDifference, ARecursiveFrameCountsOnce) {
  Recording recording;
  recording.event = SampleEvent::wall;
  recording.threads = {{1, 1, "main"}};
  recording.frames = {{.kind = FrameKind::managed, .name = "Walk()"}};
  recording.nodes = {{Recording::kNone, 0}, {0, 0}, {1, 0}};
  recording.samples = {{.value = 5, .stack = 2}, {.value = 15, .stack = 0}};
  const std::vector<FrameDifference> frames = recording_difference(recording, recording);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_DOUBLE_EQ(frames[0].before.total, 1);
  EXPECT_DOUBLE_EQ(frames[0].before.self, 1);
}

TEST(RecordingDifference, AFrameThatWasGuessedIsTheSameFrame) {
  Recording before, after;
  for (Recording* recording : {&before, &after}) {
    recording->event = SampleEvent::wall;
    recording->threads = {{1, 1, "main"}};
    recording->frames = {
        {.trust = recording == &before ? Trust::scan : Trust::unwind_info, .address = 0x1234, .name = "work"}};
    recording->nodes = {{Recording::kNone, 0}};
    recording->samples = {{.stack = 0}};
  }
  const std::vector<FrameDifference> frames = recording_difference(before, after);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].before, frames[0].after);
}

TEST(RecordingDifference, ARecordingDoesNotDifferFromItself) {
  const Recording recording = representative_recording();
  double self = 0;
  for (const FrameDifference& frame : recording_difference(recording, recording)) {
    EXPECT_EQ(frame.before, frame.after) << frame.label;
    EXPECT_LE(frame.before.total, 1 + 1e-9) << frame.label;
    self += frame.before.self;
  }
  EXPECT_NEAR(self, 1, 1e-9) << "no sample is lost";
  EXPECT_NE(text(recording, recording).find("\nNo frame's share differs by 0.1 points or more.\n"), std::string::npos);
}

TEST(RecordingDifference, DifferentEventsAndNoSamplesAreRefused) {
  const Recording wall = representative_recording(), thrown = representative_recording(SampleEvent::exception);
  EXPECT_EQ(difference_refusal(wall, wall), "");
  EXPECT_EQ(difference_refusal(wall, thrown), "one recording is of \"wall\" and the other of \"exception\"");
  Recording empty;
  empty.event = SampleEvent::wall;
  EXPECT_EQ(difference_refusal(wall, empty), "one of the recordings has no samples");
  EXPECT_TRUE(recording_difference(empty, empty).empty());
}

TEST(RecordingDifference, TextListsWhatGrewAndWhatShrankMostFirst) {
  const auto [before, after] = compared_recordings();
  const std::string out = text(before, after);
  EXPECT_TRUE(out.starts_with("Shares of all wall time, before and after\n"
                              "  before  process 4711  C:\\orders\\orders.exe  ")) << out;
  EXPECT_NE(out.find("300 samples in 8 s  2 threads  28.1 samples a second of each thread, 100 asked for  a.mixwalk\n"),
            std::string::npos)
      << out;
  EXPECT_NE(out.find("\nGrew, with what they call (points of the total)\n"
                     "   +14.7    0.0 % →  14.7 %  M  Orders.Service.Audit<script>alert(1)</script>\n"
                     "   +11.0    6.7 % →  17.6 %  M  Orders.Service.Price(int)\n"
                     "   +11.0    6.7 % →  17.6 %  N  e_sqlite3.dll!sqlite3_step\n"
                     "\nGrew, in themselves (points of the total)\n"
                     "   +14.7    0.0 % →  14.7 %  M  Orders.Service.Audit<script>alert(1)</script>\n"
                     "   +11.0    6.7 % →  17.6 %  N  e_sqlite3.dll!sqlite3_step\n"
                     "\nShrank, with what they call (points of the total)\n"
                     "   -13.3   13.3 % →   0.0 %  M  Orders.Service.Log(string)\n"
                     "   -13.3   13.3 % →   0.0 %  N  e_sqlite3.dll!write_line\n"
                     "   -11.2   20.0 % →   8.8 %  M  Orders.Service.Ship(int)\n"), std::string::npos) << out;
}

TEST(RecordingDifference, TextOfManyFramesIsOneScreenUnlessAllAreAskedFor) {
  Recording before = representative_recording(), after = before;
  before.frames = {{.kind = FrameKind::managed, .name = "M()"}};
  before.nodes = {{Recording::kNone, 0}};
  before.samples = {{.stack = 0}};
  after.frames.clear(), after.nodes.clear(), after.samples.clear();
  for (std::uint32_t i = 0; i < 500; ++i) {
    after.frames.push_back({.kind = FrameKind::managed, .name = "Method" + std::to_string(i) + "()"});
    after.nodes.push_back({Recording::kNone, i});
    after.samples.push_back({.stack = i});
  }
  EXPECT_LE(std::ranges::count(text(before, after), '\n'), 60);
  EXPECT_NE(text(before, after).find("  … 490 more frames (--all)\n"), std::string::npos);
  EXPECT_GT(std::ranges::count(text(before, after, {.all = true}), '\n'), 500);
}

TEST(RecordingDifference, HostileNamesDoNotMoveATerminal) {
  auto [before, after] = compared_recordings();
  for (Recording* recording : {&before, &after}) {
    recording->frames[0].name = hostile_names()[5] + hostile_names()[6] + hostile_names()[9];
    recording->process.path = hostile_names()[5];
  }
  std::swap(before.samples.front().value, before.samples.back().value);
  before.samples.front().value *= 100;
  const std::string out = text(before, after);
  for (const std::string_view bad : {"\x1b", "\u202E", "\u2028"}) EXPECT_EQ(out.find(bad), std::string::npos);
  EXPECT_LT(out.size(), 10'000u);
}

}  // namespace
}  // namespace mixwalk
