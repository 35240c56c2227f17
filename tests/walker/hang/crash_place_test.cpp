#include "walker/hang/crash_place.h"

#include <gtest/gtest.h>

#include "tests/builders/hang_builder.h"
#include "walker/model/crash_words.h"

namespace mixwalk {
namespace {

// The frame of the program in this stack, for a crash with this code at the stack's frame `raised`.
std::uint32_t program_frame(std::uint32_t code, const std::vector<std::string>& frames, std::size_t raised = 0) {
  test::HangBuilder builder;
  builder.thread(7, frames);
  Snapshot& snapshot = builder.snapshot();
  snapshot.crash = Crash{.thread = 7, .code = code, .objects = {}};
  snapshot.crash->address = snapshot.threads[0].stack.frames[raised].address;
  return crash_place(FrameNames(snapshot)).program;
}

TEST(CrashPlace, FunctionsThatThrowAreNotTheProgramsOwn) {
  EXPECT_EQ(program_frame(exception_code::kGnuCpp,
                          {"kernelbase!RaiseException", "orders_native!_Unwind_RaiseException",
                           "orders_native!__cxa_throw", "orders_native!reserve"}), 3u);
}

TEST(CrashPlace, FunctionsThatThrowMayHaveNoNames) {
  constexpr std::uint32_t kGnu = exception_code::kGnuCpp, kMsvc = exception_code::kCpp;
  EXPECT_EQ(program_frame(kGnu, {"kernelbase!RaiseException", "orders_native!sub_1", "orders_native!sub_2",
                                 "orders_native!reserve"}), 3u);
  EXPECT_EQ(program_frame(kGnu, {"kernelbase!RaiseException", "orders_native!sub_1", "orders_native!sub_2",
                                 "orders_native!sub_3", "orders_native!sub_4"}), 3u);
  EXPECT_EQ(program_frame(kGnu, {"kernelbase!RaiseException", "orders_native!_Unwind_RaiseException",
                                 "orders_native!sub_2", "orders_native!sub_3"}), 3u);
  EXPECT_EQ(program_frame(kGnu, {"kernelbase!RaiseException", "orders_native!sub_1", "M Orders.Program.Reserve()"}), 2u);
  EXPECT_EQ(program_frame(kMsvc, {"kernelbase!RaiseException", "orders_native!sub_1", "orders_native!sub_2"}), 2u);
  EXPECT_EQ(program_frame(exception_code::kAccessViolation, {"ntdll!memset", "orders_native!sub_1"}), 1u);
}

TEST(CrashPlace, FramesAboveAreOfHandlers) {
  EXPECT_EQ(program_frame(exception_code::kManagedFailFast,
                          {"orders_native!on_end", "coreclr!", "M Orders.Program.Close()", "M Orders.Program.Main()"},
                          2), 2u);
}

}  // namespace
}  // namespace mixwalk
