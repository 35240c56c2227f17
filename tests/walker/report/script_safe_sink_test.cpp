#include "walker/report/script_safe_sink.h"

#include <gtest/gtest.h>

#include "tests/support/full_sink.h"

namespace mixwalk {
namespace {

TEST(ScriptSafeSink, EscapesWhatMarkupIsMadeOf) {
  StringSink out;
  ScriptSafeSink safe(out);
  EXPECT_TRUE(safe.write("[\"</script>&\""));
  EXPECT_TRUE(safe.write("]"));
  EXPECT_TRUE(safe.write(""));
  EXPECT_EQ(out.text, "[\"\\u003c/script\\u003e\\u0026\"]");
}

}  // namespace
}  // namespace mixwalk
