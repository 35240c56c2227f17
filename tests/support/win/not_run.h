#pragma once

// The way out of a test case that needs what this machine does not have. run_tests.exe counts such a case as "not run",
// and never as passed.
#define MIXWALK_NOT_RUN(why) GTEST_SKIP() << "not run: " << (why)
