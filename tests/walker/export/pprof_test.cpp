#include "walker/export/pprof.h"

#include <gtest/gtest.h>

#include "tests/support/full_sink.h"
#include "tests/support/recordings.h"

namespace mixwalk {
namespace {

TEST(Pprof, TheSameRecordingGivesTheSameBytes) {
  StringSink one, two;
  EXPECT_TRUE(PprofExporter().write(representative_recording(), one));
  EXPECT_TRUE(PprofExporter().write(representative_recording(), two));
  EXPECT_EQ(one.text, two.text);
}

TEST(Pprof, SaysWhenTheSinkIsFull) {
  FullSink sink;
  EXPECT_FALSE(PprofExporter().write(representative_recording(), sink));
}

}  // namespace
}  // namespace mixwalk
