#include "walker/model/recording_slice.h"

#include <gtest/gtest.h>

#include "tests/builders/recordings.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kNsOfMs = 1'000'000;

// A sample with everything to which it refers.
struct Seen {
  std::uint64_t unix_ns, value;
  Recording::ThreadInfo thread;
  std::string detail;
  std::vector<Frame> frames;
  std::vector<std::string> images;
  bool operator==(const Seen&) const = default;
};

Seen seen(const Recording& recording, const Recording::Sample& sample) {
  Seen it{.unix_ns = recording.unix_time_ms * kNsOfMs + sample.time_ns,
          .value = sample.value,
          .thread = recording.threads[sample.thread]};
  if (sample.detail != Recording::kNone) it.detail = recording.details[sample.detail];
  for (const std::uint32_t index : stack_frames(recording, sample.stack)) {
    Frame frame = recording.frames[index];
    if (frame.module != Frame::kNone) {
      it.images.push_back(recording.modules[static_cast<std::size_t>(frame.module)].path);
      frame.module = 0;
    }
    it.frames.push_back(frame);
  }
  return it;
}

TEST(RecordingSlice, SamplesStayWhatTheyAre) {
  for (const SampleEvent event : {SampleEvent::wall, SampleEvent::exception}) {
    const Recording whole = representative_recording(event);
    const std::span<const Recording::Sample> samples(whole.samples);
    ASSERT_GT(samples.size(), 20u);
    const auto some = samples.subspan(samples.size() / 2, 10);
    const std::uint64_t begin = some.front().time_ns, end = some.back().time_ns;
    const Recording slice = recording_slice(whole, some, begin, end);
    ASSERT_EQ(slice.samples.size(), some.size());
    for (std::size_t i = 0; i < some.size(); ++i) {
      EXPECT_EQ(seen(slice, slice.samples[i]), seen(whole, some[i])) << i;
    }
    EXPECT_EQ(slice.unix_time_ms, whole.unix_time_ms + begin / kNsOfMs);
    EXPECT_EQ(slice.duration_ns, end - begin / kNsOfMs * kNsOfMs);
    EXPECT_EQ(slice.process.path, whole.process.path);
    EXPECT_EQ(slice.event, whole.event);
  }
}

TEST(RecordingSlice, HasOnlyWhatItsSamplesNeed) {
  const Recording whole = representative_recording();
  const std::span<const Recording::Sample> samples(whole.samples);
  const Recording one = recording_slice(whole, samples.first(1), 0, 0);
  EXPECT_EQ(one.threads.size(), 1u);
  EXPECT_LT(one.frames.size(), whole.frames.size());
  EXPECT_LT(one.nodes.size(), whole.nodes.size());
  for (std::size_t i = 0; i < one.nodes.size(); ++i) {
    EXPECT_TRUE(one.nodes[i].parent == Recording::kNone || one.nodes[i].parent < i);
  }
  const Recording none = recording_slice(whole, {}, 0, 0);
  EXPECT_TRUE(none.threads.empty() && none.frames.empty() && none.nodes.empty());
  EXPECT_EQ(none.process.id, whole.process.id);
}

TEST(RecordingSlice, TimesThatMakeNoSenseDoNotWrap) {
  Recording whole = representative_recording();
  whole.unix_time_ms = UINT64_MAX;
  const Recording slice = recording_slice(whole, whole.samples, UINT64_MAX, 0);
  EXPECT_EQ(slice.unix_time_ms, UINT64_MAX);
  EXPECT_EQ(slice.duration_ns, 0u);
  EXPECT_EQ(slice.samples.back().time_ns, 0u);
}

}  // namespace
}  // namespace mixwalk
