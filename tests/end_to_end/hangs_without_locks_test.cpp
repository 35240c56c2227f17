// Each program hangs in one way, most of them not by locks; some programs do not hang.

#include <gtest/gtest.h>

#include "tests/end_to_end/hang_looks.h"

namespace mixwalk {
namespace {

TEST(Hangs, AnApartmentThatHandlesNoMessages) { expect_hang("apartment", ExitCode::stuck); }
TEST(Hangs, AnApartmentThatHandlesNoMessagesBelowCallsThatAreNotSeen) {
  expect_hang("apartment-hidden", ExitCode::stuck);
}
TEST(Hangs, AStarvedThreadPool) { expect_hang("starved-pool", ExitCode::deadlock); }
TEST(Hangs, ANativeWorkerThatSpins) { expect_hang("spin", ExitCode::ok); }
TEST(Hangs, AFinalizerThatWaits) { expect_hang("finalizer", ExitCode::stuck); }
TEST(Hangs, AFinalizerThatSleepsIsLate) { expect_hang("finalizer-sleeps", ExitCode::ok); }
TEST(Hangs, AnExitUnderTheLockOfItsHandler) { expect_hang("exit", ExitCode::stuck, false); }
TEST(Hangs, AnExitThatWaitsForWork) { expect_hang("exit-drains", ExitCode::ok, false); }
TEST(Hangs, AnExitThatJoinsAThread) { expect_hang("exit-joins", ExitCode::ok, false); }
TEST(Hangs, CancellationsThatWaitForEachOther) { expect_hang("cancellation", ExitCode::deadlock); }
TEST(Hangs, APInvokeWithAndWithoutAStub) { expect_hang("inlined", ExitCode::stuck); }
TEST(Hangs, ACollectionThatWaitsForAThread) { expect_hang("collection", ExitCode::stuck, false); }
TEST(Hangs, AServiceWithoutWork) { expect_hang("idle", ExitCode::ok); }

}  // namespace
}  // namespace mixwalk
