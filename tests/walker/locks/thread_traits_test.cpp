#include "walker/locks/thread_traits.h"

#include <gtest/gtest.h>

#include "tests/walker/locks/standing_program.h"

namespace mixwalk {
namespace {

class ThreadTraitsOf : public testing::Test, protected test::StandingProgram {
 protected:
  ThreadTraitsOf() {
    add_thread(0x10, {"Program.Main()"});
    add_thread(0x20, {"Wait()"});
    clr.clr_threads[0].state = 0x20;
    clr.clr_threads[1].state = 0x220;
  }
  std::vector<ThreadTraits> read() {
    std::vector<TargetThread> threads = left_out;
    for (const Thread& thread : snapshot.threads) threads.push_back({.os_id = thread.os_id, .created = thread.created});
    add_thread_traits(snapshot, clr.clr_threads, threads);
    std::vector<ThreadTraits> all;
    for (const Thread& thread : snapshot.threads) all.push_back(thread.traits);
    return all;
  }
  using Traits = std::vector<ThreadTraits>;

  std::vector<TargetThread> left_out;  // of the snapshot
};

TEST_F(ThreadTraitsOf, TheMainThreadIsOneOfTheFirstTwoAndNotInTheBackground) {
  EXPECT_EQ(read(), (Traits{{.main = true}, {}}));
  std::swap(clr.clr_threads[0].managed_id, clr.clr_threads[1].managed_id);
  EXPECT_EQ(read(), (Traits{{.main = true}, {}}));
  clr.clr_threads[0].managed_id = 9;
  EXPECT_EQ(read(), (Traits{{}, {}}));
}

// A native program has started the runtime on its second thread.
TEST_F(ThreadTraitsOf, TheMainThreadBeganFirst) {
  snapshot.threads[0].created = 200;
  snapshot.threads[1].created = 100;
  EXPECT_EQ(read(), (Traits{{}, {.main = true}}));
  left_out = {{.os_id = 0x30, .created = 50}};
  EXPECT_EQ(read(), (Traits{{}, {}}));
  left_out.clear();
  snapshot.threads[1].created = 0;  // not known
  EXPECT_EQ(read(), (Traits{{.main = true}, {}}));
}

TEST_F(ThreadTraitsOf, TheRuntimesBitsSayWhatAThreadIs) {
  clr.clr_threads[0].state = 0x4000;
  clr.clr_threads[1].state = 0x0100'8000;
  EXPECT_EQ(read(), (Traits{{.main = true, .sta = true}, {.pool = true, .mta = true}}));
}

TEST_F(ThreadTraitsOf, AUserInterfaceIsInItsLoop) {
  snapshot.threads[1].stack.frames[0].name = "System.Windows.Threading.Dispatcher.PushFrameImpl(…)";
  EXPECT_TRUE(read()[1].pumps);
  snapshot.threads[1].stack.frames[0].name = "Microsoft.UI.Xaml.Application.Start(…)";
  EXPECT_TRUE(read()[1].pumps);
  snapshot.threads[1].stack.frames[0].name = "Wait()";
  snapshot.contexts = {{1, "System.Windows.Forms.WindowsFormsSynchronizationContext", 0x20}};
  EXPECT_TRUE(read()[1].pumps);
  snapshot.contexts[0].type = "Hangs.Desk";
  EXPECT_FALSE(read()[1].pumps);
}

TEST_F(ThreadTraitsOf, WithoutDotNetOnlyTheFirstThreadsMessagesAreAUserInterface) {
  snapshot.modules = {{.path = "C:\\Windows\\System32\\USER32.dll"}};
  for (Thread& thread : snapshot.threads) {
    StackFrame& frame = thread.stack.frames[0];
    frame.kind = FrameKind::native;
    frame.module = 0;
    frame.name = "GetMessageW";
  }
  EXPECT_EQ(read(), (Traits{{.main = true, .pumps = true}, {}}));
  snapshot.modules[0].path = "C:\\own.dll";
  EXPECT_EQ(read(), (Traits{{.main = true}, {}}));
}

}  // namespace
}  // namespace mixwalk
