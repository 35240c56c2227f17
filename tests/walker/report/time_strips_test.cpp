#include "walker/report/time_strips.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

using Stretches = std::vector<TimeStrip::Stretch>;

// Returns a recording of ten milliseconds of one thread.
Recording recording_of(std::vector<Recording::Sample> samples, SampleEvent event = SampleEvent::wall) {
  Recording recording;
  recording.event = event;
  recording.duration_ns = 10'000'000;
  recording.threads.resize(1);
  recording.samples = std::move(samples);
  return recording;
}

Stretches strip_of(const Recording& recording, std::uint32_t buckets = 10) {
  std::vector<std::uint32_t> stacks;
  for (const Recording::Sample& sample : recording.samples) stacks.push_back(sample.stack);
  return time_strips(recording, stacks, buckets).at(0).stretches;
}

constexpr std::uint64_t kMs = 1'000'000;

TEST(TimeStrips, ASampleFillsTheTimeBeforeItThatItStandsFor) {
  EXPECT_EQ(strip_of(recording_of({{.time_ns = 4 * kMs - 1, .value = 4 * kMs - 1, .stack = 7}})),
            (Stretches{{0, 4, 7}}));
}

TEST(TimeStrips, TheSameStackInARowIsOneStretch) {
  EXPECT_EQ(strip_of(recording_of({{.time_ns = 2 * kMs, .value = 2 * kMs, .stack = 7},
                                   {.time_ns = 6 * kMs - 1, .value = 4 * kMs - 1, .stack = 7},
                                   {.time_ns = 9 * kMs, .value = 3 * kMs, .stack = 8}})),
            (Stretches{{0, 6, 7}, {6, 4, 8}}));
}

TEST(TimeStrips, TimeWithoutASampleIsEmpty) {
  EXPECT_EQ(strip_of(recording_of({{.time_ns = 1 * kMs - 1, .value = 1 * kMs - 1, .stack = 7},
                                   {.time_ns = 9 * kMs - 1, .value = 1 * kMs - 1, .stack = 7}})),
            (Stretches{{0, 1, 7}, {8, 1, 7}}));
}

TEST(TimeStrips, OfABucketTheStackThatHasMostOfItIsShown) {
  EXPECT_EQ(strip_of(recording_of({{.time_ns = 2 * kMs, .value = 2 * kMs, .stack = 7},
                                   {.time_ns = 9 * kMs, .value = 7 * kMs, .stack = 8}}), 1),
            (Stretches{{0, 1, 8}}));
}

TEST(TimeStrips, WhatHappenedAtAMomentFillsItsBucketOnly) {
  EXPECT_EQ(strip_of(recording_of({{.time_ns = 5 * kMs, .value = 1'000'000'000, .stack = 7}}, SampleEvent::exception)),
            (Stretches{{5, 1, 7}}));
}

// A forged file has times beyond the end, values beyond the beginning, and sums of both that need far more than 64
// bits.
TEST(TimeStrips, TimesThatCannotBeStayInTheStrip) {
  constexpr std::uint64_t kMax = ~std::uint64_t{0};
  const Stretches strip = strip_of(recording_of({{.time_ns = 3, .value = kMax, .stack = 7},
                                                 {.time_ns = kMax, .value = kMax, .stack = 8},
                                                 {.time_ns = kMax, .value = 1, .stack = 9}}));
  ASSERT_FALSE(strip.empty());
  std::uint32_t end = 0;
  for (const TimeStrip::Stretch& stretch : strip) {
    EXPECT_GE(stretch.first, end);
    end = stretch.first + stretch.count;
  }
  EXPECT_LE(end, 10u);
}

TEST(TimeStrips, NothingIsRecordedInNoTime) {
  Recording recording = recording_of({{.stack = 7}});
  recording.duration_ns = 0;
  EXPECT_EQ(strip_of(recording), (Stretches{{0, 1, 7}}));
}

TEST(TimeStrips, ManyThreadsHaveFewerBuckets) {
  EXPECT_EQ(bucket_count(0), 1000u);
  EXPECT_EQ(bucket_count(50), 1000u);
  EXPECT_EQ(bucket_count(500), 200u);
  EXPECT_EQ(bucket_count(1'000'000), 100u);
}

}  // namespace
}  // namespace mixwalk
