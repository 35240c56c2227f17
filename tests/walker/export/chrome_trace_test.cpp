#include "walker/export/chrome_trace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/builders/recordings.h"
#include "tests/support/full_sink.h"

namespace mixwalk {
namespace {

std::string trace_of(const Recording& recording) {
  StringSink sink;
  EXPECT_TRUE(write_chrome_trace(recording, sink));
  return sink.text;
}

// Returns "B main@0" for each event that is not metadata; times are in nanoseconds.
std::vector<std::string> events_of(const Recording& recording) {
  std::vector<std::string> events;
  const auto trace = nlohmann::json::parse(trace_of(recording));
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") == "M") continue;
    const double ns = event.at("ts").get<double>() * 1000;
    events.push_back(event.at("ph").get<std::string>() + " " + event.at("name").get<std::string>() +
                     "@" + std::to_string(std::llround(ns)));
  }
  return events;
}

// A thread is in main, and later in work, called by main. There is a sample every 100 ns.
Recording working() {
  Recording recording;
  recording.event = SampleEvent::wall;
  recording.period_ns = 100;
  recording.threads.push_back({.os_id = 7});
  recording.frames = {{.name = "main"}, {.name = "work"}};
  recording.nodes = {{Recording::kNone, 0}, {0, 1}};
  return recording;
}

using Events = std::vector<std::string>;

TEST(ChromeTrace, TheRateThatWasReachedIsInItsOtherData) {
  Recording recording = parked_recording({.seconds = 10});
  EXPECT_EQ(nlohmann::json::parse(trace_of(recording)).at("otherData"),
            nlohmann::json::parse(R"({"rate reached": "10.0 samples a second of each thread, 100 asked for"})"));
  recording.event = SampleEvent::cpu;
  EXPECT_FALSE(nlohmann::json::parse(trace_of(recording)).contains("otherData"));
}

TEST(ChromeTrace, TheLeafOfAThreadThatWaitsHasThatAsACategory) {
  Recording recording = working();
  recording.samples = {{.time_ns = 0, .value = 100, .stack = 0, .standing = Standing::runs},
                       {.time_ns = 100, .value = 100, .stack = 1, .standing = Standing::idle},
                       {.time_ns = 200, .value = 100, .stack = 1, .standing = Standing::waits}};
  std::vector<std::string> begun;
  const auto trace = nlohmann::json::parse(trace_of(recording));
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") != "B") continue;
    begun.push_back(event.at("name").get<std::string>() + ": " + event.at("cat").get<std::string>());
  }
  EXPECT_EQ(begun, (std::vector<std::string>{"main: native", "work: native,idle", "work: native,waits"}));
}

TEST(ChromeTrace, AFrameOfConsecutiveSamplesIsOneSlice) {
  Recording recording = working();
  recording.samples = {{.time_ns = 0, .value = 100, .stack = 0},
                       {.time_ns = 100, .value = 100, .stack = 1},
                       {.time_ns = 200, .value = 100, .stack = 1},
                       {.time_ns = 300, .value = 100, .stack = 0}};
  EXPECT_EQ(events_of(recording),
            (Events{"B main@0", "B work@100", "E work@300", "E main@400"}));
}

TEST(ChromeTrace, WhereSamplesAreMissingASliceEnds) {
  Recording recording = working();
  recording.samples = {{.time_ns = 0, .value = 100, .stack = 0},
                       {.time_ns = 500, .value = 100, .stack = 0}};
  EXPECT_EQ(events_of(recording), (Events{"B main@0", "E main@100", "B main@500", "E main@600"}));
}

TEST(ChromeTrace, WhereSamplesComeLaterThanAskedForASliceGoesOn) {
  Recording recording = working();
  recording.samples = {{.time_ns = 0, .value = 100, .stack = 0},
                       {.time_ns = 500, .value = 500, .stack = 0},
                       {.time_ns = 2500, .value = 2000, .stack = 0}};
  EXPECT_EQ(events_of(recording), (Events{"B main@0", "E main@4500"}));
}

TEST(ChromeTrace, TwentyThreadsParkedForAnHourAreASmallFile) {
  const std::string trace = trace_of(parked_recording({}));
  std::printf("%zu bytes\n", trace.size());
  EXPECT_LT(trace.size(), 200'000u);
}

TEST(ChromeTrace, ThreadsOfOneIdDoNotOverlap) {
  Recording recording = working();
  recording.threads.push_back({.os_id = 7, .clr_id = 1});
  recording.samples = {{.time_ns = 0, .value = 100, .stack = 1},
                       {.time_ns = 50, .value = 100, .thread = 1, .stack = 0}};
  EXPECT_EQ(events_of(recording), (Events{"B main@0", "B work@0", "E work@50", "E main@150"}));
}

TEST(ChromeTrace, SamplesOfOneTimeComeOneAfterTheOther) {
  Recording recording = working();
  recording.samples = {{.time_ns = 0, .value = 100, .stack = 1},
                       {.time_ns = 100, .value = 100, .stack = 0},
                       {.time_ns = 100, .value = 100, .stack = 1}};
  EXPECT_EQ(events_of(recording), (Events{"B main@0", "B work@0", "E work@100", "B work@101",
                                          "E work@200", "E main@200"}));
  recording.event = SampleEvent::exception;
  EXPECT_EQ(events_of(recording),
            (Events{"B main@0", "B work@0", "E work@99", "E main@99", "B main@100", "E main@101",
                    "B main@102", "B work@102", "E work@1102", "E main@1102"}));
}

TEST(ChromeTrace, ATimeThatWouldLoseANanosecondInFloatingPoint) {
  Recording recording = working();
  recording.event = SampleEvent::exception;
  recording.samples = {{.time_ns = 1000, .stack = 0}, {.time_ns = 1001, .stack = 0}};
  ASSERT_LT(std::trunc(1.001 * 1000), 1001);
  const auto trace = nlohmann::json::parse(trace_of(recording));
  std::vector<double> times;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") != "M") times.push_back(std::trunc(event.at("ts").get<double>() * 1000));
  }
  EXPECT_EQ(times, (std::vector<double>{1000, 1001, 1002, 2002}));
}

TEST(ChromeTrace, WithoutSamplesThereIsASliceThatSaysSo) {
  Recording recording = working();
  EXPECT_EQ(events_of(recording), (Events{"B [no samples]@0", "E [no samples]@1000"}));
}

TEST(ChromeTrace, ASampleOfNoLengthEndsWhatWentBefore) {
  Recording recording = working();
  recording.samples = {{.time_ns = 0, .value = 100, .stack = 1},
                       {.time_ns = 100, .value = 0, .stack = 1}};
  EXPECT_EQ(events_of(recording), (Events{"B main@0", "B work@0", "E work@100", "E main@100"}));
}

TEST(ChromeTrace, MomentsAreSlicesOfTheirOwn) {
  Recording recording = working();
  recording.event = SampleEvent::exception;
  recording.samples = {{.time_ns = 0, .stack = 0}, {.time_ns = 300, .stack = 0}};
  EXPECT_EQ(events_of(recording), (Events{"B main@0", "E main@299", "B main@300", "E main@1300"}));
}

TEST(ChromeTrace, ANameThatEndsAndBeginsAtOneTimeBeginsLater) {
  Recording recording = working();
  recording.frames.push_back({.name = "wait"});
  recording.nodes.push_back({1, 2});  // main, work, wait
  recording.nodes.push_back({0, 2});  // main, wait
  recording.samples = {{.time_ns = 0, .value = 100, .stack = 2},
                       {.time_ns = 100, .value = 100, .stack = 3}};
  EXPECT_EQ(events_of(recording), (Events{"B main@0", "B work@0", "B wait@0", "E wait@100",
                                          "E work@100", "B wait@101", "E wait@200", "E main@200"}));
}

TEST(ChromeTrace, NanosecondsKeepTheirDigits) {
  Recording recording = working();
  recording.samples = {{.time_ns = UINT64_MAX - 1000, .value = 100, .stack = 0}};
  EXPECT_NE(trace_of(recording).find("\"ts\":18446744073709550.615,"), std::string::npos);
}

TEST(ChromeTrace, SaysWhenTheSinkIsFull) {
  FullSink sink;
  EXPECT_FALSE(write_chrome_trace(representative_recording(), sink));
}

}  // namespace
}  // namespace mixwalk
