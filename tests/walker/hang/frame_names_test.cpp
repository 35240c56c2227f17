#include "walker/hang/frame_names.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/hang_builder.h"
#include "walker/hang/wait.h"

namespace mixwalk {
namespace {

using Places = std::vector<std::uint32_t>;

TEST(FrameNamesTest, TellingFramesAreStubsAndTheProgramsOwn) {
  test::HangBuilder builder;
  builder.thread(0x10, test::managed_thread({"ntdll!NtWaitForSingleObject", "orders_native!print", "P orders!print",
                                             "M System.Lazy.Get()", "M Orders.Print()", "coreclr!", "M Orders.Run()"}));
  const FrameNames names(builder.snapshot());
  const std::vector<Frame>& frames = builder.last().stack.frames;
  EXPECT_EQ(telling_frames(names, frames, 1, 3), (Places{1, 2, 4}));
  EXPECT_EQ(telling_frames(names, frames, 1, 100), (Places{1, 2, 4, 6}));
  // The first one is shown whatever it is.
  EXPECT_EQ(telling_frames(names, frames, 0, 2), (Places{0, 1}));
  EXPECT_EQ(telling_frames(names, frames, kNoFrame, 3), Places());
}

}  // namespace
}  // namespace mixwalk
