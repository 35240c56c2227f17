// COM calls go into a single-threaded apartment whose thread handles no messages. Each stack of a caller, and of the
// apartment's thread, must be whole, and the same from inside and from outside.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/end_to_end/dumped_threads.h"
#include "tests/end_to_end/hanging_program.h"

namespace mixwalk {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::StartsWith;

// What each thread's stack must contain: the method where the call leaves managed code, or where the apartment's thread
// waits.
const std::map<std::string, std::string> kMethods = {
    {"form", "managed Hangs.Program.OnSave("},
    {"early", "managed Hangs.Program.CountEarly("},
    {"late", "managed Hangs.Program.CountLate("},
    {"other form", "managed Hangs.Program.CountFromForm("},
    {"dynamic", "managed Hangs.Program.CountDynamic("},
    {"generated", "managed Hangs.Program.CountGenerated("}};

TEST(Apartments, CallsIntoOneThatHandlesNoMessages) {
  HangingProgram hangs("apartment");
  const auto outside = dump_as_json(hangs.process.id(), {"--outside"});
  const auto inside = dump_as_json(hangs.process.id(), {"--inside", "--wait", "10s"});
  for (const auto& [name, method] : kMethods) {
    SCOPED_TRACE(name);
    const std::uint32_t id = hangs.thread(name);
    ASSERT_NE(id, 0u);
    const auto* thread = dumped_thread(inside, id);
    const auto* seen = dumped_thread(outside, id);
    ASSERT_TRUE(thread != nullptr && seen != nullptr);
    EXPECT_TRUE(thread->at("whole").get<bool>()) << thread->dump(1);
    const auto frames = dumped_frames(inside, *thread, Rvas::left_out);
    EXPECT_EQ(frames, dumped_frames(outside, *seen, Rvas::left_out));
    EXPECT_THAT(frames, Contains(StartsWith(method)));
    if (name == "form") continue;
    // Since Windows 8 calls between apartments are made by combase.dll.
    EXPECT_THAT(frames, Contains(AnyOf(StartsWith("native combase.dll"), StartsWith("native ole32.dll"))));
  }
  hangs.process.write_line("STOP");
  EXPECT_EQ(hangs.process.wait(20'000), 0u);
}

}  // namespace
}  // namespace mixwalk
