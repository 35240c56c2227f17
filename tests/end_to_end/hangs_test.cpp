// Each program hangs in one way, by locks. mixwalk must name the cause, the threads and their places first.

#include <gtest/gtest.h>

#include "tests/end_to_end/hang_looks.h"

namespace mixwalk {
namespace {

TEST(Hangs, MonitorsThatAreTakenCrosswise) { expect_hang("crossed-monitors", ExitCode::deadlock); }
TEST(Hangs, AMonitorOfAThreadInNativeCode) { expect_hang("monitor-in-native-code", ExitCode::stuck); }
TEST(Hangs, ACriticalSectionAndAMonitorThatAreTakenCrosswise) { expect_hang("crossed-section", ExitCode::deadlock); }
TEST(Hangs, ANativeCallbackThatDoesNotReturn) { expect_hang("callback", ExitCode::stuck); }
TEST(Hangs, AStaticConstructorThatWaits) { expect_hang("class-constructor", ExitCode::stuck); }

}  // namespace
}  // namespace mixwalk
