// Each program hangs in one way that is not by locks; one program does not hang.

#include <gtest/gtest.h>

#include "tests/end_to_end/hang_looks.h"

namespace mixwalk {
namespace {

TEST(Hangs, AnApartmentThatHandlesNoMessages) { expect_hang("apartment", ExitCode::stuck); }
TEST(Hangs, AStarvedThreadPool) { expect_hang("starved-pool", ExitCode::stuck); }
TEST(Hangs, ANativeWorkerThatSpins) { expect_hang("spin", ExitCode::ok); }
TEST(Hangs, AFinalizerThatWaits) { expect_hang("finalizer", ExitCode::stuck); }
TEST(Hangs, CancellationsThatWaitForEachOther) { expect_hang("cancellation", ExitCode::stuck); }
TEST(Hangs, AServiceWithoutWork) { expect_hang("idle", ExitCode::ok); }

}  // namespace
}  // namespace mixwalk
