// COM calls into a single-threaded apartment whose thread handles no messages: each stack of a caller, and of the
// apartment's thread, is whole, and the same from inside and from outside.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "tests/real_windows/dumped_threads.h"
#include "tests/support/win/child_process.h"

namespace mixwalk {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::StartsWith;

// What a thread's stack must have: where the call leaves managed code, or where the apartment's thread waits.
const std::map<std::string, std::string> kMethods = {
    {"form", "managed Hangs.Program.OnSave("},
    {"early", "managed Hangs.Program.CountEarly("},
    {"late", "managed Hangs.Program.CountLate("},
    {"other form", "managed Hangs.Program.CountEarly("}};

TEST(Apartments, CallsIntoOneThatHandlesNoMessages) {
  ChildProcess hangs({fixture("hangs.exe"), "--way", "apartment"});
  std::map<std::string, std::uint32_t> ids;
  for (auto line = hangs.read_line(); line && !line->starts_with("READY"); line = hangs.read_line()) {
    std::istringstream in(*line);
    std::string word, name;
    std::uint32_t id = 0;
    in >> word >> id >> std::ws;
    std::getline(in, name);
    ids[name] = id;
  }
  const auto outside = dump_as_json(hangs.id(), {"--outside"});
  const auto inside = dump_as_json(hangs.id(), {"--inside", "--wait", "10s"});
  for (const auto& [name, method] : kMethods) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(ids.contains(name));
    const auto* thread = dumped_thread(inside, ids[name]);
    const auto* seen = dumped_thread(outside, ids[name]);
    ASSERT_TRUE(thread != nullptr && seen != nullptr);
    EXPECT_TRUE(thread->at("whole").get<bool>()) << thread->dump(1);
    const auto frames = dumped_frames(inside, *thread);
    EXPECT_EQ(frames, dumped_frames(outside, *seen));
    EXPECT_THAT(frames, Contains(StartsWith(method)));
    if (name == "form") continue;
    // Since Windows 8 calls between apartments are made by combase.dll.
    EXPECT_THAT(frames, Contains(AnyOf(StartsWith("native combase.dll"), StartsWith("native ole32.dll"))));
  }
  hangs.write_line("STOP");
  EXPECT_EQ(hangs.wait(20'000), 0u);
}

}  // namespace
}  // namespace mixwalk
