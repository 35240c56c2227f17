#include "walker/session/protocol.h"

#include <gtest/gtest.h>

#include "tests/support/snapshot_builder.h"

namespace mixwalk {
namespace {

std::vector<Message> one_of_each() {
  const Snapshot snapshot = representative_snapshot();
  std::vector<Message> messages = {Hello{kProtocolVersion, snapshot.process, snapshot.runtime},
                                   DumpRequest{Engine::copy},
                                   DetachRequest{},
                                   FunctionName{0x1234, "A.B()"},
                                   snapshot.modules[0],
                                   DumpDone{},
                                   Detached{0x8013'1360}};
  for (Thread thread : snapshot.threads) {
    // Native names are not sent: the other side makes them.
    for (Frame& frame : thread.stack.frames) frame.name.clear(), frame.displacement = 0;
    messages.emplace_back(thread);
  }
  return messages;
}

std::string body(const Message& message) { return encode(message).substr(kLengthBytes); }

TEST(Protocol, EveryMessageComesBackAsItWas) {
  for (const Message& message : one_of_each()) {
    const std::string bytes = encode(message);
    EXPECT_EQ(decode_length(bytes), bytes.size() - kLengthBytes);
    const auto decoded = decode(body(message));
    ASSERT_TRUE(decoded) << message.index();
    EXPECT_TRUE(*decoded == message) << message.index();
  }
}

TEST(Protocol, ACutMessageIsNoMessageOrASmallerOne) {
  for (const Message& message : one_of_each()) {
    const std::string whole = body(message);
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
      EXPECT_FALSE(decode(std::string_view(whole).substr(0, bytes))) << message.index();
    }
  }
}

TEST(Protocol, TwoMessagesInOneAreNone) {
  EXPECT_FALSE(decode(body(DumpDone{}) + body(DumpDone{})));
}

TEST(Protocol, AFrameOfARunThatIsNotThere) {
  Thread thread{.os_id = 1};
  thread.stack.frames.push_back({.run = 0});
  EXPECT_FALSE(decode(body(thread)));
  thread.stack.runs.push_back({.frame_count = 1});
  EXPECT_TRUE(decode(body(thread)));
  thread.stack.runs[0].first_frame = 0xFFFF'FFFF;
  EXPECT_FALSE(decode(body(thread)));
  thread.stack.runs[0].first_frame = 0;
  thread.stack.frames[0].run = -2;
  EXPECT_FALSE(decode(body(thread)));
}

TEST(Protocol, AnEnumerationBeyondItsLastValue) {
  Thread thread{.os_id = 1};
  thread.stack.frames.push_back({.kind = static_cast<FrameKind>(9)});
  EXPECT_FALSE(decode(body(thread)));
}

TEST(Protocol, LengthsThatNoMessageHas) {
  EXPECT_FALSE(decode_length(""));
  EXPECT_FALSE(decode_length(std::string("\1\0\0", 3)));
  EXPECT_FALSE(decode_length(std::string("\0\0\0\0", 4)));
  EXPECT_FALSE(decode_length("\xff\xff\xff\xff"));
  EXPECT_EQ(decode_length(std::string("\1\2\0\0", 4)), 0x201u);
}

}  // namespace
}  // namespace mixwalk
