#include "walker/locks/timeouts.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/builders/image_builder.h"
#include "tests/walker/locks/standing_program.h"
#include "walker/hang/wait_limit.h"

namespace mixwalk {
namespace {

using test::ImageBuilder;

// Thread 0x10 waits for a task, by Task.Wait without a limit, of which the JIT has made one method with its caller.
class Timeouts : public testing::Test, protected test::StandingProgram {
 protected:
  static constexpr std::uint64_t kNtdll = 0x1'8000'0000;
  enum : std::int32_t { ntdll, kernelbase, coreclr, orders };

  Timeouts() {
    add_thread(0x10, {"", "", "", "System.Threading.Monitor.Wait(System.Object, System.Int32)",
                      "System.Threading.Tasks.Task.Wait(System.Int32, System.Threading.CancellationToken)",
                      "Orders.Main()", "Orders.Start()"});
    Thread& thread = snapshot.threads[0];
    thread.waits_for_task = 0;
    snapshot.tasks.push_back({});
    for (const char* const name : {"ntdll.dll", "KERNELBASE.dll", "coreclr.dll", "orders.dll"}) {
      snapshot.modules.push_back({.base = kNtdll + 0x100'0000 * snapshot.modules.size(), .path = name});
    }
    std::vector<StackFrame>& frames = thread.stack.frames;
    for (const std::int32_t image : {ntdll, kernelbase, coreclr}) {
      frames[static_cast<std::size_t>(image)].kind = FrameKind::native;
      frames[static_cast<std::size_t>(image)].module = image;
    }
    frames[0].address_kind = AddressKind::instruction_pointer;
    for (std::size_t i = 1; i < frames.size(); ++i) {
      frames[i].address = 0x1'9000'0000 + 0x100 * i;
      frames[i].address_kind = AddressKind::return_address;
      put_return(i, frames[i].address);
    }
    put(20, heap.object(heap.type("System.Threading.ManualResetEventSlim")));
    put_system_call(test::StandingTarget::kRip - 0x14 - kNtdll);
  }

  void put(std::size_t word, std::uint64_t value) { heap.put(stack + 8 * word, value); }
  void put_return(std::size_t frame, std::uint64_t value) { heap.put(stack + 0x40 * frame - 8, value); }
  // The image of ntdll.dll, whose system call begins there.
  void put_system_call(std::uint64_t rva) {
    const std::vector<std::byte> file =
        ImageBuilder().export_name("NtWaitForMultipleObjects", static_cast<std::uint32_t>(rva)).build();
    for (std::uint32_t at = 0; at < ImageBuilder::kSizeOfImage; ++at) {
      std::size_t from = at;
      if (at >= ImageBuilder::kCode) {
        try {
          from = ImageBuilder::offset_of(file, at);
        } catch (const std::exception&) {
          continue;
        }
      }
      if (from < file.size()) target.memory_of.put(kNtdll + at, file[from]);
    }
  }
  std::vector<StackFrame>& frames() { return snapshot.threads[0].stack.frames; }
  // "limited", "unlimited", or empty.
  std::string find() {
    ThreadTraits& traits = snapshot.threads[0].traits;
    traits = {};
    EXPECT_TRUE(has_timeouts(snapshot) || !may_capture);
    add_timeouts(snapshot, target, clr);
    EXPECT_FALSE(traits.limited && traits.unlimited);
    return traits.limited ? "limited" : traits.unlimited ? "unlimited" : "";
  }

  bool may_capture = true;
  const std::uint64_t stack = test::StandingTarget::kStack + 0x10 * 0x1'0000;
  // The return address into kernelbase.dll is the word 7 from the leaf's frame, so the system call's own frame is
  // empty but for the arguments behind its return address.
  static constexpr std::size_t kTimeout = 5;
};

TEST_F(Timeouts, ThatTheSystemWasNotGivenAreNone) {
  EXPECT_EQ(limit_of_wait(snapshot.threads[0]), WaitLimit::unknown);
  EXPECT_EQ(find(), "unlimited");
  EXPECT_EQ(limit_of_wait(snapshot.threads[0]), WaitLimit::none);
}

TEST_F(Timeouts, ThatTheSystemWasGivenAreLimits) {
  put(kTimeout, stack + 0x30);
  EXPECT_EQ(find(), "limited");
  EXPECT_EQ(limit_of_wait(snapshot.threads[0]), WaitLimit::some);
}

TEST_F(Timeouts, OfAWaitThatMayBeCancelledAreNotKnown) {
  const std::uint64_t base = heap.type("System.Threading.CancellationTokenSource");
  const std::uint64_t source = heap.object(heap.type("Orders.Source", {}, base));
  put(22, source);
  EXPECT_EQ(find(), "");
  put(22, 0);
  target.registers[Register::rsi] = source;
  EXPECT_EQ(find(), "");
  target.registers[Register::rsi] = 0;
  put(49, source);  // what the callers know is no token of this wait
  EXPECT_EQ(find(), "unlimited");
}

TEST_F(Timeouts, WithoutTypesAreNotKnown) {
  put(20, 0);
  EXPECT_EQ(find(), "");
}

// A thread that goes on may wait for a collection in the runtime, by another system call.
TEST_F(Timeouts, OfOtherSystemCallsAreNotKnown) {
  put_system_call(test::StandingTarget::kRip - 0x40 - kNtdll);
  EXPECT_EQ(find(), "");
}

TEST_F(Timeouts, OfWaitsThatTheRuntimeHasNotMadeAreNotKnown) {
  may_capture = false;
  frames()[2].module = orders;
  EXPECT_EQ(find(), "");
  EXPECT_FALSE(has_timeouts(snapshot));
  frames()[2].module = coreclr;
  frames()[1].module = orders;  // other software has patched the system call
  EXPECT_EQ(find(), "");
  frames()[1].module = kernelbase;
  frames()[3].trust = Trust::scan;
  EXPECT_EQ(find(), "");
}

TEST_F(Timeouts, OnlyOfThreadsThatWaitForSomethingKnown) {
  snapshot.threads[0].waits_for_task = AsyncTask::kNone;
  EXPECT_EQ(find(), "");
  snapshot.locks.push_back({.kind = LockKind::monitor, .address = 1, .owner = 2, .held = true, .waiters = {{0x10}}});
  EXPECT_EQ(find(), "unlimited");
}

// The frames say it already.
TEST_F(Timeouts, OfMethodsWithoutALimitAreNotLookedFor) {
  frames()[4].name = "System.Threading.Tasks.Task.Wait()";
  EXPECT_FALSE(has_timeouts(snapshot));
  frames()[3].name = frames()[4].name = "Orders.Main()";  // .NET 8: the program enters a monitor
  put(kTimeout, stack + 0x30);
  EXPECT_EQ(find(), "limited");
}

// The thread's SynchronizationContext waits for it. What the method behind the context knows may be a token.
TEST_F(Timeouts, OfAThreadWhoseContextWaits) {
  std::vector<StackFrame> context(4, frames()[3]);
  context[0].name = "System.Threading.SynchronizationContext.WaitHelper(System.IntPtr[], System.Boolean, System.Int32)";
  context[1].name = "Orders.UiContext.Wait(System.IntPtr[], System.Boolean, System.Int32)";
  context[2].name = "System.Threading.SynchronizationContext.InvokeWaitMethodHelper()";
  context[3] = frames()[2];
  frames().insert(frames().begin() + 3, context.begin(), context.end());
  for (std::size_t i = 3; i < frames().size(); ++i) {
    frames()[i].address = 0x1'9000'0000 + 0x100 * i;
    frames()[i].stack_pointer = stack + 0x40 * i;
    put_return(i, frames()[i].address);
  }
  EXPECT_EQ(limit_of_wait(snapshot.threads[0]), WaitLimit::unknown);
  EXPECT_EQ(find(), "unlimited");
  put(8 * 8 + 2, heap.object(heap.type("System.Threading.CancellationTokenSource")));
  EXPECT_EQ(find(), "");
  put(kTimeout, stack + 0x30);
  EXPECT_EQ(find(), "limited");
}

TEST_F(Timeouts, OfAThreadThatHasMovedAreNotKnown) {
  put_return(5, 0x1'9000'0999);
  EXPECT_EQ(find(), "");
  put_return(5, frames()[5].address);
  EXPECT_EQ(find(), "unlimited");
  target.live = true;
  EXPECT_EQ(find(), "unlimited");
  int captures = 0;
  target.on_capture = [&] {
    if (++captures == 1) put(22, 1);
  };
  EXPECT_EQ(find(), "");
}

}  // namespace
}  // namespace mixwalk
