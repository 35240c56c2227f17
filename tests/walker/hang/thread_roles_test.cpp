#include "walker/hang/thread_roles.h"

#include <gtest/gtest.h>

#include "tests/builders/hang_builder.h"
#include "walker/model/series.h"

namespace mixwalk {
namespace {

using test::HangBuilder;
using test::main_thread;
using test::managed_thread;
using test::native_thread;

HangBuilder three_threads() {
  HangBuilder builder;
  builder.thread(0x10, native_thread({"ntdll!NtWaitForSingleObject"}));
  builder.thread(
      0x14, main_thread({"win32u!NtUserGetMessage", "M System.Windows.Forms.Application.Run(System.Windows.Forms.Form)",
                         "M Orders.Program.Main()"}));
  builder.thread(0x18,
                 managed_thread({"ntdll!NtWaitForSingleObject", "M System.Windows.Threading.Dispatcher.PushFrame(X)",
                                 "M Orders.Splash.Show()"}));
  return builder;
}

TEST(ThreadRoles, MainAndLoopsAreOnTheStacks) {
  const std::vector<ThreadRoles> expected = {{}, {.main = true, .ui = true}, {.ui = true}};
  HangBuilder builder = three_threads();
  EXPECT_EQ(thread_roles(builder.snapshot()), expected);
  Recording recording = to_recording(builder.snapshot());
  recording.event = SampleEvent::wall;
  EXPECT_EQ(thread_roles(recording), expected);
}

TEST(ThreadRoles, AMethodThatAnotherMethodCalledIsNotTheProgramsMain) {
  HangBuilder builder;
  builder.thread(0x10, managed_thread({"M Tools.Program.Main()", "M Orders.Runner.Run()"}));
  EXPECT_EQ(thread_roles(builder.snapshot()), std::vector<ThreadRoles>{{}});
}

TEST(ThreadRoles, WithoutMainTheThreadThatBeganFirstIsTheMainThread) {
  HangBuilder builder;
  for (const std::uint32_t id : {0x10u, 0x14u}) {
    builder.thread(id, native_thread({"ntdll!NtWaitForSingleObject"}));
    builder.last().created = 100 - id;
  }
  EXPECT_EQ(thread_roles(builder.snapshot()), (std::vector<ThreadRoles>{{}, {.main = true}}));
  builder.snapshot().threads[0].created = builder.snapshot().threads[1].created;
  EXPECT_EQ(thread_roles(builder.snapshot()), (std::vector<ThreadRoles>{{}, {}}));
  builder.snapshot().threads[0].created -= 10;
  builder.snapshot().omissions.threads = true;  // it may be among the others
  EXPECT_EQ(thread_roles(builder.snapshot()), (std::vector<ThreadRoles>{{}, {}}));
}

TEST(ThreadRoles, Words) {
  EXPECT_EQ(role_words({}), "");
  EXPECT_EQ(role_words({.main = true}), "main thread");
  EXPECT_EQ(role_words({.ui = true}), "UI thread");
  EXPECT_EQ(role_words({.main = true, .ui = true}), "main and UI thread");
}

}  // namespace
}  // namespace mixwalk
