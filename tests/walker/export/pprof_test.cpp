#include "walker/export/pprof.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <array>

#include "tests/builders/recordings.h"
#include "tests/support/full_sink.h"

namespace mixwalk {
namespace {

TEST(Pprof, TheSameRecordingGivesTheSameBytes) {
  StringSink one, two;
  EXPECT_TRUE(write_pprof(representative_recording(), one));
  EXPECT_TRUE(write_pprof(representative_recording(), two));
  EXPECT_EQ(one.text, two.text);
}

// Returns the decompressed profile. A comment is in its string table unchanged.
std::string profile_of(const Recording& recording) {
  StringSink sink;
  EXPECT_TRUE(write_pprof(recording, sink));
  std::string text(sink.text.size() * 20, '\0');
  z_stream z = {};
  EXPECT_EQ(inflateInit2(&z, 15 + 16), Z_OK);
  z.next_in = reinterpret_cast<Bytef*>(sink.text.data());
  z.avail_in = static_cast<uInt>(sink.text.size());
  z.next_out = reinterpret_cast<Bytef*>(text.data());
  z.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&z, Z_FINISH), Z_STREAM_END);
  inflateEnd(&z);
  return text;
}

TEST(Pprof, ACommentSaysTheRateThatWasReached) {
  Recording recording = parked_recording({.seconds = 10});
  EXPECT_NE(profile_of(recording).find("10.0 samples a second of each thread, 100 asked for"), std::string::npos);
  recording.event = SampleEvent::cpu;
  EXPECT_EQ(profile_of(recording).find("a second of each"), std::string::npos);
}

TEST(Pprof, ALabelSaysTheStanding) {
  Recording recording = parked_recording({.seconds = 10});
  EXPECT_EQ(profile_of(recording).find("standing"), profile_of(recording).rfind("standing"));  // the key alone
  recording.samples[0].standing = Standing::idle;
  EXPECT_NE(profile_of(recording).find("idle"), std::string::npos);
}

TEST(Pprof, SaysWhenTheSinkIsFull) {
  FullSink sink;
  EXPECT_FALSE(write_pprof(representative_recording(), sink));
}

}  // namespace
}  // namespace mixwalk
