#pragma once

namespace mixwalk {

// Whether this program runs under Wine.
bool under_wine();

}  // namespace mixwalk

// The first line of a test case that needs something that only Wine has. On Windows the case is skipped, and
// run_tests.exe, which recognises it by these words, counts it as "not for Windows".
#define MIXWALK_ONLY_UNDER_WINE(why) \
  if (!mixwalk::under_wine()) GTEST_SKIP() << "not for Windows: " << (why)
