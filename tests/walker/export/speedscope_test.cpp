#include "walker/export/speedscope.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/builders/recordings.h"
#include "tests/support/full_sink.h"

namespace mixwalk {
namespace {

TEST(Speedscope, ANumberOfSixtyFourBitsIsExact) {
  Recording recording = representative_recording();
  recording.samples.resize(1);
  recording.samples[0].value = UINT64_MAX;
  StringSink sink;
  ASSERT_TRUE(write_speedscope(recording, sink));
  const auto document = nlohmann::json::parse(sink.text);
  EXPECT_EQ(document.at("profiles").at(0).at("weights").at(0), UINT64_MAX);
  EXPECT_EQ(document.at("profiles").at(0).at("endValue"), UINT64_MAX);
}

nlohmann::json document_of(const Recording& recording) {
  StringSink sink;
  EXPECT_TRUE(write_speedscope(recording, sink));
  return nlohmann::json::parse(sink.text);
}

TEST(Speedscope, EqualNeighboursAreOneSampleWithTheirWeights) {
  Recording recording;
  recording.event = SampleEvent::wall;
  recording.threads = {{.os_id = 7}, {.os_id = 8}};
  // Two call sites in one function have the same text; "work" has another one.
  recording.frames = {{.address = 0x10, .name = "main"}, {.address = 0x20, .name = "main"},
                      {.address = 0x30, .name = "work"}};
  recording.nodes = {{Recording::kNone, 0}, {Recording::kNone, 1}, {0, 2}, {1, 2}};
  recording.samples = {{.value = 1, .stack = 2}, {.value = 9, .thread = 1, .stack = 0},
                       {.value = 2, .stack = 3}, {.value = 4, .stack = 0}, {.value = 8, .stack = 2}};
  const auto profiles = document_of(recording).at("profiles");
  EXPECT_EQ(profiles.at(0).at("samples"), nlohmann::json::parse("[[0,1],[0],[0,1]]"));
  EXPECT_EQ(profiles.at(0).at("weights"), nlohmann::json::parse("[3,4,8]"));
  EXPECT_EQ(profiles.at(0).at("endValue"), 15);
  EXPECT_EQ(profiles.at(1).at("weights"), nlohmann::json::parse("[9]"));
}

TEST(Speedscope, WithoutSamplesThereIsAnEmptyProfile) {
  Recording recording;
  recording.threads = {{.os_id = 7}};
  const auto profiles = document_of(recording).at("profiles");
  ASSERT_EQ(profiles.size(), 1u);
  EXPECT_EQ(profiles.at(0).at("name"), "[no samples]");
  EXPECT_EQ(profiles.at(0).at("samples"), nlohmann::json::array());
  EXPECT_EQ(profiles.at(0).at("endValue"), 0);
}

TEST(Speedscope, TwentyThreadsParkedForAnHourAreASmallFile) {
  StringSink sink;
  ASSERT_TRUE(write_speedscope(parked_recording({}), sink));
  std::printf("%zu bytes\n", sink.text.size());
  EXPECT_LT(sink.text.size(), 100'000u);
}

TEST(Speedscope, SaysWhenTheSinkIsFull) {
  FullSink sink;
  EXPECT_FALSE(write_speedscope(representative_recording(), sink));
}

}  // namespace
}  // namespace mixwalk
