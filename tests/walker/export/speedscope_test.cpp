#include "walker/export/speedscope.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/full_sink.h"
#include "tests/support/recordings.h"

namespace mixwalk {
namespace {

TEST(Speedscope, ANumberOfSixtyFourBitsIsExact) {
  Recording recording = representative_recording();
  recording.samples.resize(1);
  recording.samples[0].value = UINT64_MAX;
  StringSink sink;
  ASSERT_TRUE(SpeedscopeExporter().write(recording, sink));
  const auto document = nlohmann::json::parse(sink.text);
  EXPECT_EQ(document.at("profiles").at(0).at("weights").at(0), UINT64_MAX);
  EXPECT_EQ(document.at("profiles").at(0).at("endValue"), UINT64_MAX);
}

TEST(Speedscope, SaysWhenTheSinkIsFull) {
  FullSink sink;
  EXPECT_FALSE(SpeedscopeExporter().write(representative_recording(), sink));
}

}  // namespace
}  // namespace mixwalk
