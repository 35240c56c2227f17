// Programs that hang in one way each: mixwalk names the cause, the threads and their places first. Hangs by locks.

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
