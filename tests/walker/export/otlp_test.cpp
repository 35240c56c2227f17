#include "walker/export/otlp.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>

#include "tests/builders/recordings.h"
#include "tests/support/full_sink.h"
#include "walker/model/reached_rate.h"

namespace mixwalk {
namespace {

TEST(Otlp, TheSameRecordingGivesTheSameBytes) {
  RecordedImages images;
  StringSink one, two;
  EXPECT_TRUE(write_otlp(representative_recording(), images, one));
  EXPECT_TRUE(write_otlp(representative_recording(), images, two));
  EXPECT_EQ(one.text, two.text);
}

TEST(Otlp, TimesAndValuesPastTheNumbersAreTheLastOnes) {
  Recording recording = representative_recording();
  recording.unix_time_ms = UINT64_MAX;
  recording.samples.back().time_ns = recording.samples.back().value = UINT64_MAX;
  RecordedImages images;
  StringSink sink;
  EXPECT_TRUE(write_otlp(recording, images, sink));
  EXPECT_NE(sink.text.find(std::string(8, '\xff')), std::string::npos);
}

std::string written(const OtlpOptions& options) {
  Recording recording = representative_recording();
  recording.process.command_line = "orders.exe --password=hunter2";
  RecordedImages images;
  StringSink sink;
  EXPECT_TRUE(write_otlp(recording, images, sink, options));
  return sink.text;
}

// Returns how often the text occurs in the document. The text is short, so its length is the byte before it.
std::size_t times(const std::string& document, std::string_view text) {
  const std::string with_length = static_cast<char>(text.size()) + std::string(text);
  std::size_t count = 0;
  for (std::size_t at = document.find(with_length); at != document.npos;
       at = document.find(with_length, at + 1)) {
    ++count;
  }
  return count;
}

TEST(Otlp, TheCommandLineOnlyIfAskedFor) {
  EXPECT_EQ(times(written({}), "process.command_line"), 0u);
  EXPECT_EQ(written({}).find("hunter2"), std::string::npos);
  EXPECT_EQ(times(written({.command_line = true}), "orders.exe --password=hunter2"), 1u);
}

TEST(Otlp, AttributesThatWereGivenReplaceTheRecordings) {
  const std::string own = written({});
  EXPECT_EQ(times(own, "service.name"), 1u);
  EXPECT_NE(own.find("unknown_service:"), std::string::npos);
  EXPECT_EQ(times(own, "os.type"), 1u);
  const std::string given = written({.attributes = {{"service.name", "orders"}, {"os.type", "x"}}});
  EXPECT_EQ(times(given, "service.name"), 1u);
  EXPECT_EQ(times(given, "orders"), 1u);
  EXPECT_EQ(given.find("unknown_service:"), std::string::npos);
  EXPECT_EQ(times(given, "os.type"), 1u);
  EXPECT_EQ(times(given, "windows"), 0u);
}

TEST(Otlp, SaysTheMachineAndTheStandingOfEachSample) {
  const auto document = [](const Recording& recording) {
    RecordedImages images;
    StringSink sink;
    EXPECT_TRUE(write_otlp(recording, images, sink));
    return sink.text;
  };
  Recording recording = representative_recording();
  recording.process.host.clear();
  for (Recording::Sample& sample : recording.samples) sample.standing = Standing::unknown;
  EXPECT_EQ(times(document(recording), "host.name") + times(document(recording), "mixwalk.standing"), 0u);
  recording.process.host = "web7";
  // Two samples of one thread and one stack, which differ in their standing only.
  recording.samples.assign(2, recording.samples.front());
  recording.samples.front().standing = Standing::waits;
  recording.samples.back().standing = Standing::idle;
  EXPECT_EQ(times(document(recording), "web7"), 1u);
  EXPECT_EQ(times(document(recording), "mixwalk.standing"), 1u) << "a text of the dictionary";
  EXPECT_EQ(times(document(recording), "waits"), 1u);
  EXPECT_EQ(times(document(recording), "idle"), 1u);
}

// The id is field 7, of wire type 2, with 16 bytes.
TEST(Otlp, EachProfileHasAnId) {
  OtlpProfileId id;
  id.fill(std::byte{0xa5});
  const std::string field = std::string("\x3a\x10") + std::string(16, '\xa5');
  EXPECT_NE(written({.profile_id = id}).find(field), std::string::npos);
  EXPECT_EQ(written({}).find(field), std::string::npos);
  EXPECT_EQ(written({}).size(), written({.profile_id = id}).size());
  EXPECT_EQ(written({}), written({})) << "a digest: the same recording gives the same bytes";
}

TEST(Otlp, AnAttributeSaysTheRateThatWasReached) {
  const auto document = [](const Recording& recording) {
    RecordedImages images;
    StringSink sink;
    EXPECT_TRUE(write_otlp(recording, images, sink));
    return sink.text;
  };
  Recording recording = parked_recording({.seconds = 10});
  // The rate is field 4, of wire type 1: a double.
  const auto reached = std::bit_cast<std::array<char, 8>>(*reached_hz(recording));
  const std::string value = '\x21' + std::string(reached.begin(), reached.end());
  EXPECT_EQ(times(document(recording), "mixwalk.reached_hz"), 1u);
  EXPECT_NE(document(recording).find(value), std::string::npos);
  recording.event = SampleEvent::cpu;
  EXPECT_EQ(times(document(recording), "mixwalk.reached_hz"), 0u);
}

TEST(Otlp, SaysWhenTheSinkIsFull) {
  RecordedImages images;
  FullSink sink;
  EXPECT_FALSE(write_otlp(representative_recording(), images, sink));
}

}  // namespace
}  // namespace mixwalk
