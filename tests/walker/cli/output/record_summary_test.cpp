#include "walker/cli/output/record_summary.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

// Two threads have a sample each every `interval`; the requested interval was `asked`.
Recording sampled(std::uint64_t interval, std::uint64_t asked, int ticks) {
  Recording recording;
  recording.event = SampleEvent::wall;
  recording.period_ns = asked;
  recording.threads = {{.os_id = 1}, {.os_id = 2}};
  for (int tick = 0; tick < ticks; ++tick) {
    for (std::uint32_t thread : {0u, 1u}) {
      recording.samples.push_back({.time_ns = static_cast<std::uint64_t>(tick) * interval,
                                   .value = interval, .thread = thread});
    }
  }
  return recording;
}

TEST(RecordSummary, TheRateThatWasReachedStandsBesideTheOneAskedFor) {
  RecordSummary summary;
  summary.take(sampled(160 * kMs, 10 * kMs, 10), 0, {.samples = 20, .whole = 20});
  EXPECT_NEAR(*summary.reached_hz(), 6.25, 0.01);
  EXPECT_EQ(summary.line(2), "2 s, 20 samples of 2 threads, 6.2 of 100 a second of each, "
                             "100.0 % whole, 0 lost");
}

TEST(NoSampleWords, NameWhatNeverHappened) {
  EXPECT_EQ(no_sample_words(SampleEvent::exception, "IOException"),
            "no exception of type \"IOException\" was thrown while it was recorded: the recording is empty (a type is "
            "named in full, such as System.IO.IOException)");
  EXPECT_EQ(no_sample_words(SampleEvent::exception, ""),
            "no exception was thrown while it was recorded: the recording is empty");
  EXPECT_EQ(no_sample_words(SampleEvent::module_load, "orders"),
            "no module named \"orders\" was loaded while it was recorded: the recording is empty (a module is named by "
            "its file, such as orders.dll)");
  EXPECT_EQ(no_sample_words(SampleEvent::cpu, ""),
            "no thread used the CPU while it was recorded: the recording is empty");
}

TEST(RecordSummary, WhileItRunsItsEndIsSaidToo) {
  RecordSummary summary;
  EXPECT_EQ(summary.line(2, 30), "2 of 30 s, 0 samples of 0 threads, 0 lost");
  EXPECT_EQ(summary.line(31, 30), "30 of 30 s, 0 samples of 0 threads, 0 lost") << "the end may be late";
  Recording one;
  one.event = SampleEvent::cpu;
  one.threads = {{.os_id = 1}};
  one.samples = {{}};
  summary.take(one, 0, {});
  EXPECT_EQ(summary.line(2), "2 s, 1 sample of 1 thread, 0 lost");
}

TEST(RecordSummary, StacksWithGuessedFramesAreCountedApart) {
  RecordSummary summary;
  summary.take(sampled(160 * kMs, 10 * kMs, 10), 0, {.samples = 20, .whole = 15, .guessed = 4});
  EXPECT_NE(summary.line(2).find(", 75.0 % whole, 20.0 % with guessed frames, 0 lost"), std::string::npos);
}

TEST(RecordSummary, AThreadThatLivedShortlyDoesNotLowerTheRate) {
  Recording recording = sampled(10 * kMs, 10 * kMs, 100);
  recording.threads.push_back({.os_id = 3});
  recording.samples.push_back({.time_ns = 500 * kMs, .value = 10 * kMs, .thread = 2});
  RecordSummary summary;
  summary.take(recording, 0, {});
  EXPECT_NEAR(*summary.reached_hz(), 100, 0.01);
}

TEST(RecordSummary, WhatWasLostWasNotReached) {
  Recording recording = sampled(10 * kMs, 10 * kMs, 50);
  recording.dropped = 100;
  RecordSummary summary;
  summary.take(recording, 0, {});
  EXPECT_NEAR(*summary.reached_hz(), 50, 0.01);
}

TEST(RecordSummary, TheLargestRateIsWrittenOut) {
  RecordSummary summary;
  summary.take(sampled(10 * kMs, 100'000, 50), 0, {});
  EXPECT_NE(summary.line(0).find(", 100.0 of 10000 a second of each"), std::string::npos)
      << summary.line(0);
}

TEST(RecordSummary, ASamplerThatStopsEarlyDoesNotKeepItsRate) {
  Recording recording = sampled(10 * kMs, 10 * kMs, 1);
  recording.duration_ns = 1000 * kMs;
  RecordSummary summary;
  summary.take(recording, 0, {});
  EXPECT_NEAR(*summary.reached_hz(), 1, 0.01);
}

TEST(RecordSummary, OnlyNewSamplesCount) {
  Recording recording = sampled(10 * kMs, 10 * kMs, 50);
  RecordSummary summary;
  summary.take(recording, 0, {});
  summary.take(recording, recording.samples.size(), {});
  EXPECT_EQ(summary.samples(), 100u);
}

// The state is as RecordingCollector::begin_piece() leaves it: half a millisecond and one thread are carried over.
TEST(RecordSummary, ItCountsOverThePiecesOfARecording) {
  Recording first = sampled(10 * kMs, 10 * kMs, 100);
  first.duration_ns = 990 * kMs + kMs / 2;
  first.dropped = 3;
  Recording begun;
  begun.duration_ns = kMs / 2;
  begun.threads = {{.os_id = 1}};
  Recording second = sampled(10 * kMs, 10 * kMs, 50);
  second.dropped = 4;
  second.threads.push_back({.os_id = 3});
  for (auto& sample : second.samples) sample.time_ns += 10 * kMs;
  second.duration_ns = 500 * kMs;

  RecordSummary summary;
  summary.take(first, 0, {});
  summary.end_piece(first);
  summary.begin_piece(begun);
  summary.take(second, 0, {});
  EXPECT_EQ(summary.line(1), "1 s, 300 samples of 4 threads, 97.7 of 100 a second of each, 7 lost");

  // No samples come for another second.
  second.duration_ns += 1000 * kMs;
  summary.take(second, second.samples.size(), {});
  EXPECT_LT(*summary.reached_hz(), 65);
}

TEST(RecordSummary, SamplesThatAreAllLostAreARateOfZero) {
  Recording recording = sampled(10 * kMs, 10 * kMs, 0);
  recording.dropped = 100;
  RecordSummary summary;
  summary.take(recording, 0, {});
  EXPECT_EQ(summary.line(1), "1 s, 0 samples of 2 threads, 0 of 100 a second of each, 100 lost");
}

TEST(RecordSummary, SamplesOfProcessorTimeHaveNoRate) {
  Recording recording = sampled(10 * kMs, 10 * kMs, 5);
  recording.event = SampleEvent::cpu;
  recording.dropped = 3;
  RecordSummary summary;
  summary.take(recording, 0, {});
  EXPECT_EQ(summary.line(7), "7 s, 10 samples of 2 threads, 3 lost");
}

// The option is --interval 60s.
TEST(RecordSummary, ARateBelowOneKeepsItsDigits) {
  RecordSummary summary;
  summary.take(sampled(80'000 * kMs, 60'000 * kMs, 50), 0, {});
  EXPECT_NE(summary.line(0).find(", 0.013 of 0.016667 a second of each"), std::string::npos) << summary.line(0);
}

TEST(RecordSummary, SamplesOfWhatHappenedHaveNoRate) {
  Recording recording = sampled(10 * kMs, 0, 5);
  recording.event = SampleEvent::exception;
  RecordSummary summary;
  summary.take(recording, 0, {});
  EXPECT_EQ(summary.line(7), "7 s, 10 samples of 2 threads, 0 lost");
  EXPECT_EQ(RecordSummary().line(0), "0 s, 0 samples of 0 threads, 0 lost");
}

}  // namespace
}  // namespace mixwalk
