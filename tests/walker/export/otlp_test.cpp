#include "walker/export/otlp.h"

#include <gtest/gtest.h>

#include "tests/support/full_sink.h"
#include "tests/support/recordings.h"

namespace mixwalk {
namespace {

TEST(Otlp, TheSameRecordingGivesTheSameBytes) {
  RecordedImages images;
  StringSink one, two;
  EXPECT_TRUE(OtlpExporter(images).write(representative_recording(), one));
  EXPECT_TRUE(OtlpExporter(images).write(representative_recording(), two));
  EXPECT_EQ(one.text, two.text);
}

TEST(Otlp, TimesAndValuesPastTheNumbersAreTheLastOnes) {
  Recording recording = representative_recording();
  recording.unix_time_ms = UINT64_MAX;
  recording.samples.back().time_ns = recording.samples.back().value = UINT64_MAX;
  RecordedImages images;
  StringSink sink;
  EXPECT_TRUE(OtlpExporter(images).write(recording, sink));
  EXPECT_NE(sink.text.find(std::string(8, '\xff')), std::string::npos);
}

TEST(Otlp, SaysWhenTheSinkIsFull) {
  RecordedImages images;
  FullSink sink;
  EXPECT_FALSE(OtlpExporter(images).write(representative_recording(), sink));
}

}  // namespace
}  // namespace mixwalk
