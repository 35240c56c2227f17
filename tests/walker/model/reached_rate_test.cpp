#include "walker/model/reached_rate.h"

#include <gtest/gtest.h>

#include "tests/builders/recordings.h"
#include "walker/model/recording_slice.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

// Two threads have a sample each every `interval`; 10 ms was requested. The first thread ends with the recording.
Recording sampled(std::uint64_t interval, std::uint64_t ticks) {
  Recording recording;
  recording.event = SampleEvent::wall;
  recording.period_ns = 10 * kMs;
  recording.duration_ns = ticks * interval;
  recording.threads = {{.os_id = 1}, {.os_id = 2}};
  for (std::uint64_t tick = 0; tick < ticks; ++tick) {
    for (std::uint32_t thread : {0u, 1u}) {
      recording.samples.push_back({.time_ns = tick * interval, .value = interval, .thread = thread});
    }
  }
  return recording;
}

TEST(ReachedRate, SamplesThatComeInTimeReachWhatWasAskedFor) {
  EXPECT_NEAR(*reached_hz(sampled(10 * kMs, 100)), 100, 0.01);
}

// This is the case of issue 11: 100 Hz was requested, and 6.3 Hz was reached for each thread.
TEST(ReachedRate, SamplesThatComeLateLowerTheRate) {
  EXPECT_NEAR(*reached_hz(sampled(160 * kMs, 1000)), 6.25, 0.01);
}

TEST(ReachedRate, AThreadThatLivesForAPartOfTheTimeDoesNotLowerIt) {
  Recording recording = sampled(10 * kMs, 100);
  std::erase_if(recording.samples, [](const Recording::Sample& sample) {
    return sample.thread == 1 && (sample.time_ns < 300 * kMs || sample.time_ns > 400 * kMs);
  });
  EXPECT_NEAR(*reached_hz(recording), 100, 0.01);
}

TEST(ReachedRate, LostSamplesWereNotReached) {
  Recording recording = sampled(10 * kMs, 50);
  recording.dropped = 100;
  EXPECT_NEAR(*reached_hz(recording), 50, 0.01);
}

TEST(ReachedRate, IsZeroWhereAllSamplesWereLost) {
  Recording recording = sampled(10 * kMs, 0);
  recording.dropped = 100;
  EXPECT_EQ(reached_hz(recording), 0);
}

TEST(ReachedRate, ASamplerThatStopsEarlyDoesNotKeepItsRate) {
  Recording recording = sampled(10 * kMs, 1);
  recording.duration_ns = 1000 * kMs;
  EXPECT_NEAR(*reached_hz(recording), 1, 0.01);
}

// A file without its end has only the duration up to its last chunk, or none.
TEST(ReachedRate, ARecordingThatWasCutOffHasTheRateUpToThere) {
  Recording recording = sampled(20 * kMs, 100);
  recording.samples.resize(81);
  recording.duration_ns = recording.samples.back().time_ns;
  EXPECT_NEAR(*reached_hz(recording), 50, 0.01);
  recording.duration_ns = 0;
  EXPECT_NEAR(*reached_hz(recording), 50, 0.01);
}

TEST(ReachedRate, APartOfARecordingHasItsOwn) {
  Recording recording = sampled(160 * kMs, 10);
  const Recording in_time = sampled(10 * kMs, 100);
  const std::uint64_t begin_ns = recording.duration_ns, last_ns = recording.samples.back().time_ns;
  for (Recording::Sample sample : in_time.samples) {
    sample.time_ns += begin_ns;
    recording.samples.push_back(sample);
  }
  recording.duration_ns += in_time.duration_ns;
  const std::span<const Recording::Sample> samples = recording.samples;
  EXPECT_NEAR(*reached_hz(recording_slice(recording, samples.first(20), 0, last_ns)), 6.25, 0.01);
  EXPECT_NEAR(*reached_hz(recording_slice(recording, samples.subspan(20), begin_ns, recording.duration_ns)), 100, 0.01);
  EXPECT_NEAR(*reached_hz(recording), 110 / 2.6, 0.01);
}

TEST(ReachedRate, SamplesAddedBitByBitGiveTheSame) {
  const Recording recording = sampled(20 * kMs, 10);
  ReachedRate rate;
  for (const Recording::Sample& sample : recording.samples) rate.add({&sample, 1});
  EXPECT_EQ(rate.hz(recording.period_ns, 900 * kMs, 3), [&] {
    Recording longer = recording;
    longer.duration_ns = 900 * kMs;
    longer.dropped = 3;
    return reached_hz(longer);
  }());
}

TEST(ReachedRate, OnlyWallTimeHasOne) {
  for (const SampleEvent event : {SampleEvent::dump, SampleEvent::cpu, SampleEvent::exception, SampleEvent::allocation,
                                  SampleEvent::class_load, SampleEvent::module_load}) {
    EXPECT_FALSE(reached_hz(representative_recording(event))) << static_cast<int>(event);
  }
  EXPECT_TRUE(reached_hz(representative_recording(SampleEvent::wall)));
}

TEST(ReachedRate, AnEmptyRecordingHasNone) {
  EXPECT_FALSE(reached_hz(Recording{}));
  EXPECT_FALSE(reached_hz(sampled(10 * kMs, 0)));
}

TEST(ReachedRate, AnyNumbersOfAFileGiveANumber) {
  Recording recording = sampled(10 * kMs, 2);
  for (Recording::Sample& sample : recording.samples) sample.value = 0;
  EXPECT_FALSE(reached_hz(recording)) << "the samples represent no time";
  recording.samples.back().time_ns = recording.samples.back().value = recording.period_ns = UINT64_MAX;
  recording.duration_ns = recording.dropped = UINT64_MAX;
  EXPECT_NEAR(*reached_hz(recording), 0, 1e-6);
}

}  // namespace
}  // namespace mixwalk
