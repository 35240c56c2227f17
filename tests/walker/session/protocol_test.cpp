#include "walker/session/protocol.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <limits>
#include <string>

#include "tests/builders/snapshot_builder.h"

namespace mixwalk {
namespace {

std::vector<Message> one_of_each() {
  const Snapshot snapshot = representative_snapshot();
  // The builds of the images are not sent, because the other side reads the images' files.
  Module module = snapshot.modules[0];
  module.code_view.reset();
  Assembly assembly = snapshot.assemblies[0];
  assembly.pdb.reset();
  std::vector<Message> messages = {Hello{kProtocolVersion, snapshot.process, snapshot.runtime, 4711},
                                   DumpRequest{Engine::copy},
                                   DumpRequest{Engine::snapshot, 7, ProbePolicy::always, 0xFFFF'FFFF, "Idle",
                                               {3, 4}, true},
                                   DumpRequest{.engine = Engine::copy, .at_once = true, .start_ms = 3'000},
                                   Thread{.os_id = 9, .moment = 3},
                                   RecordRequest{{Engine::copy}, SampleEvent::cpu, 123'456'789,
                                                 {"Orders", "x"}},
                                   RecordRequest{},
                                   RecordRequest{.event = SampleEvent::allocation,
                                                 .type = "Orders.Order",
                                                 .every = 1000},
                                   RecordRequest{.event = SampleEvent::exception},
                                   RecordRequest{.event = SampleEvent::class_load},
                                   RecordRequest{.event = SampleEvent::module_load,
                                                 .type = "orders.dll"},
                                   StopRequest{},
                                   RecordedBytes{true, std::string("a\0b", 3), {1, 2, 3, {4, 5, 6}}},
                                   RecordedBytes{false, ""},
                                   RecordDone{{3, true}},
                                   DumpDone{{1, false}, {Moment{1'000}, Moment{2}}},
                                   DetachRequest{},
                                   FunctionName{0x1234, "A.B()"},
                                   module,
                                   DumpDone{},
                                   Detached{0x8013'1360},
                                   LedgerOffer{0x1'0000'0004},
                                   Problem{"no thread could be started"},
                                   VisitFailed{VisitFailed::Why::no_memory},
                                   VisitFailed{VisitFailed::Why::defect},
                                   assembly,
                                   Assembly{.path = "a.dll", .optimised = false}};
  for (Thread thread : snapshot.threads) {
    // Native names are not sent, because the other side makes them.
    for (Frame& frame : thread.stack.frames) {
      frame.name.clear();
      frame.symbol = SymbolKind::none;
      frame.displacement = 0;
      frame.file.clear();
      frame.line = 0;
      frame.line_approximate = false;
    }
    // These are data of the process that mixwalk.exe reads by itself.
    thread.created = 0;
    thread.cpu.reset();
    messages.emplace_back(thread);
  }
  return messages;
}

std::string body(const Message& message) {
  return encode(message).substr(kLengthBytes);
}

// Protobuf built by hand, from its description: a tag with field and wire type, then the value.
std::string bytes(std::initializer_list<int> values) {
  std::string out;
  for (const int value : values) out += static_cast<char>(value);
  return out;
}
constexpr int kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;
int tag(int field, int wire_type) {
  return field << 3 | wire_type;
}
std::string message(int number, const std::string& content) {
  return bytes({tag(number, kBytes), static_cast<int>(content.size())}) + content;
}

std::optional<Message> through(const Message& message) {
  return decode(body(message));
}

TEST(Protocol, AFailureIsEncodedWithoutMemoryToTheSameBytes) {
  for (const auto why : {VisitFailed::Why::no_memory, VisitFailed::Why::defect}) {
    const auto bytes = encode_failed(why);
    EXPECT_EQ(std::string(bytes.data(), bytes.size()), encode(VisitFailed{why}));
  }
}

TEST(Protocol, EveryMessageComesBackAsItWas) {
  for (const Message& message : one_of_each()) {
    const std::string sent = encode(message);
    EXPECT_EQ(decode_length(sent), sent.size() - kLengthBytes);
    const auto decoded = decode(body(message));
    ASSERT_TRUE(decoded) << message.index();
    EXPECT_TRUE(*decoded == message) << message.index();
  }
}

TEST(Protocol, ACutMessageIsNoMessage) {
  for (const Message& message : one_of_each()) {
    const std::string whole = body(message);
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
      EXPECT_FALSE(decode(std::string_view(whole).substr(0, bytes))) << message.index();
    }
  }
}

TEST(Protocol, MoreMomentsThanADumpHasAreRefused) {
  DumpDone done;
  done.moments.resize(kMaxMoments);
  EXPECT_TRUE(decode(body(done)));
  done.moments.emplace_back();
  EXPECT_FALSE(decode(body(done)));
}

TEST(Protocol, TwoMessagesInOneAreNone) {
  EXPECT_FALSE(decode(body(DumpDone{}) + body(DumpDone{})));
}

TEST(Protocol, LimitsOfEveryNumberComeBack) {
  Thread thread{.os_id = 0xFFFF'FFFF, .clr_id = ~0ull, .frozen_ns = ~0ull};
  thread.stack.refusal = 0xFFFF'FFFF;
  thread.stack.frames = {{{.address = ~0ull, .function = ~0ull, .module = 0x7FFF'FFFF}, ~0ull}};
  EXPECT_TRUE(through(thread) == Message(thread));
  const Module module{~0ull, 0xFFFF'FFFF, 0, std::string("a\0b", 3)};
  EXPECT_TRUE(through(module) == Message(module));
}

TEST(Protocol, InnerTruncationIsRefusedOrAShorterMessage) {
  // The outer length is corrected, so that only the content is cut. If the cut is at the end of a field, the rest is a
  // valid message, otherwise it is not.
  for (const Message& original : one_of_each()) {
    const std::string whole = body(original);
    const int number = static_cast<unsigned char>(whole[0]) >> 3;
    const std::size_t header = whole.size() > 2 + 0x7F ? 3 : 2;  // a length of one byte or two
    const std::string content = whole.substr(header);
    for (std::size_t length = 0; length < content.size() && length < 128; ++length) {
      const auto decoded = decode(message(number, content.substr(0, length)));
      EXPECT_TRUE(!decoded || decoded->index() == original.index());
    }
  }
  const std::string function = body(FunctionName{0x1122, "name"}).substr(2);
  EXPECT_TRUE(decode(message(4, function.substr(0, 9))));    // the id alone
  EXPECT_FALSE(decode(message(4, function.substr(0, 8))));   // half the id
  EXPECT_FALSE(decode(message(4, function.substr(0, 12))));  // half the text
}

TEST(Protocol, NothingIsNoMessage) {
  EXPECT_FALSE(decode({}));
}

TEST(Protocol, UnknownMessageIsRefused) {
  EXPECT_FALSE(decode(bytes({0x82, 0x01, 0})));  // 16
  EXPECT_FALSE(decode(bytes({tag(0, kBytes), 0})));
}

TEST(Protocol, RequestsBeyondTheirLimitsAreRefused) {
  EXPECT_TRUE(decode(message(2, bytes({tag(2, kVarint), 1}))) ==
              Message(DumpRequest{.deadline_ms = 1}));
  EXPECT_FALSE(decode(message(2, bytes({tag(2, kVarint), 0})))) << "no deadline";
  EXPECT_FALSE(decode(message(2, bytes({tag(2, kVarint), 0xFF, 0xFF, 0x7F})))) << "35 minutes";
  EXPECT_FALSE(decode(message(2, bytes({tag(3, kVarint), 3})))) << "no such policy";
  EXPECT_TRUE(decode(message(9, bytes({tag(2, kVarint), 2}))) ==
              Message(RecordRequest{.event = SampleEvent::cpu}));
  EXPECT_FALSE(decode(message(9, bytes({tag(2, kVarint), 0})))) << "a dump is no recording";
  EXPECT_TRUE(decode(message(9, bytes({tag(2, kVarint), 4}))) ==
              Message(RecordRequest{.event = SampleEvent::allocation}));
  EXPECT_TRUE(decode(message(9, bytes({tag(2, kVarint), 6}))) ==
              Message(RecordRequest{.event = SampleEvent::module_load}));
  EXPECT_FALSE(decode(message(9, bytes({tag(2, kVarint), 7})))) << "no such event";
  EXPECT_FALSE(decode(message(9, bytes({tag(6, kVarint), 0})))) << "one of none";
  EXPECT_FALSE(decode(message(9, bytes({tag(3, kVarint), 1})))) << "a nanosecond";
}

TEST(Protocol, UnknownFieldIsPassedOver) {
  const std::string later = bytes({tag(15, kVarint), 1, tag(14, kBytes), 1, 'x'});
  EXPECT_TRUE(decode(message(8, later + bytes({tag(1, kVarint), 5}))) == Message(Detached{5}));
  EXPECT_TRUE(decode(message(4, later)) == Message(FunctionName{}));
}

TEST(Protocol, FieldOfAnotherTypeIsRefused) {
  // First a number is in the place of a text, then a text in the place of a number, and so on. Each field is sent with
  // its wire type, so the reader sees the error.
  EXPECT_FALSE(decode(message(4, bytes({tag(2, kVarint), 1, 'x'}))));
  EXPECT_FALSE(decode(message(8, bytes({tag(1, kBytes), 1, 'x'}))));
  EXPECT_FALSE(decode(message(4, bytes({tag(1, kVarint), 1, 2, 3, 4, 5, 6, 7, 8}))));
  EXPECT_FALSE(decode(message(5, bytes({tag(1, kFixed32), 1, 2, 3, 4}))));
  EXPECT_FALSE(decode(message(6, bytes({tag(8, kVarint), 0}))));
  EXPECT_FALSE(decode(bytes({tag(6, kVarint), 0})));
  EXPECT_FALSE(decode(bytes({tag(7, kVarint), 0})));
  EXPECT_FALSE(decode(bytes({tag(3, kFixed64), 0, 0, 0, 0, 0, 0, 0, 0})));
}

TEST(Protocol, AFrameOfARunThatIsNotThere) {
  // The message is thread { frame { run: … } run { first_frame: …, frame_count: 1 } }.
  const auto frame = [](std::initializer_list<int> run) {
    std::string text = bytes({tag(8, kVarint)});
    for (const int byte : run) text += static_cast<char>(byte);
    return message(8, text);
  };
  const std::string run = message(9, bytes({tag(5, kVarint), 1}));
  const std::string far = message(9, bytes({tag(4, kVarint), 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, tag(5, kVarint), 1}));
  EXPECT_FALSE(decode(message(6, frame({0}))));
  EXPECT_TRUE(decode(message(6, frame({0}) + run)));
  EXPECT_FALSE(decode(message(6, frame({0}) + far)));
  EXPECT_FALSE(decode(message(6, frame({0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1}) + run)));
}

TEST(Protocol, FrameOfANegativeModuleIsRefused) {
  Thread thread{.os_id = 1};
  thread.stack.frames.push_back(Frame{.module = -2});
  EXPECT_FALSE(through(thread));
}

TEST(Protocol, RunBeyondTheFramesIsRefused) {
  using Number = std::initializer_list<int>;
  const Number most = {0xFF, 0xFF, 0xFF, 0xFF, 0x0F};
  const auto run = [](Number first, Number count) {
    return message(9, bytes({tag(4, kVarint)}) + bytes(first) + bytes({tag(5, kVarint)}) + bytes(count));
  };
  std::string frames;
  for (int i = 0; i < 4; ++i) frames += message(8, "");
  EXPECT_TRUE(decode(message(6, frames + run({4}, {0}))));
  EXPECT_TRUE(decode(message(6, frames + run({0}, {4}))));
  EXPECT_FALSE(decode(message(6, frames + run({0}, {5}))));
  EXPECT_FALSE(decode(message(6, frames + run({5}, {0}))));
  EXPECT_FALSE(decode(message(6, frames + run({4}, {1}))));
  EXPECT_FALSE(decode(message(6, frames + run(most, {2}))));
  EXPECT_FALSE(decode(message(6, frames + run({2}, most))));
}

TEST(Protocol, EnumerationBeyondItsLastValueIsRefused) {
  EXPECT_TRUE(decode(message(2, bytes({tag(1, kVarint), 1}))) ==
              Message(DumpRequest{Engine::copy}));
  EXPECT_FALSE(decode(message(2, bytes({tag(1, kVarint), 3}))));
  const auto with_frame = [](int field, int value) {
    return decode(message(6, message(8, bytes({tag(field, kVarint), value}))));
  };
  EXPECT_TRUE(with_frame(1, 3));
  EXPECT_FALSE(with_frame(1, 4));
  EXPECT_TRUE(with_frame(2, 6));
  EXPECT_FALSE(with_frame(2, 7));
  EXPECT_TRUE(with_frame(3, 1));
  EXPECT_FALSE(with_frame(3, 2));
  const auto with_run = [](int field, int value) {
    return decode(message(6, message(9, bytes({tag(field, kVarint), value}))));
  };
  EXPECT_TRUE(with_run(1, 3));
  EXPECT_FALSE(with_run(1, 4));
  EXPECT_TRUE(with_run(2, 3));
  EXPECT_FALSE(with_run(2, 4));
  EXPECT_TRUE(with_run(3, static_cast<int>(kLastOpenReason)));
  EXPECT_FALSE(with_run(3, static_cast<int>(kOpenReasons)));
  EXPECT_FALSE(decode(message(6, bytes({tag(6, kVarint), 2}))));
}

TEST(Protocol, LengthsThatNoMessageHas) {
  EXPECT_FALSE(decode_length(""));
  EXPECT_FALSE(decode_length(std::string("\1\0\0", 3)));
  EXPECT_FALSE(decode_length(std::string("\0\0\0\0", 4)));
  EXPECT_FALSE(decode_length("\xff\xff\xff\xff"));
  EXPECT_EQ(decode_length(bytes({0, 0, 0x80, 0})), kMaxMessageBytes);
  EXPECT_FALSE(decode_length(bytes({1, 0, 0x80, 0})));
  EXPECT_EQ(decode_length(std::string("\1\2\0\0", 4)), 0x201u);
}

TEST(Protocol, LengthBeyondTheMessageIsRefused) {
  EXPECT_FALSE(decode(bytes({tag(1, kBytes), 0x7F})));
  EXPECT_FALSE(decode(bytes({tag(1, kBytes), 0xFF, 0xFF, 0xFF, 0xFF, 0x0F})));
  EXPECT_FALSE(decode(
      bytes({tag(1, kBytes), 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01})));
}

TEST(Protocol, AnAssemblysMvidIsAGuid) {
  for (const std::size_t size : {0, 15, 17}) {
    EXPECT_FALSE(decode(bytes({static_cast<char>(0xA2), 1, static_cast<char>(size + 2), tag(2, kBytes),
                               static_cast<int>(size)}) +
                        std::string(size, 'x')))
        << size;
  }
}

TEST(Protocol, WhatStubsLeadTo) {
  Thread thread{.os_id = 1};
  for (const char* target : {"orders!wait", "", "orders!send", "orders!wait"}) {
    thread.stack.frames.push_back(Frame{.kind = FrameKind::stub, .target = target});
  }
  // Names cross the pipe with their FunctionID. A stub that was inlined has none by which it could get one.
  thread.stack.frames.back().inline_depth = 1;
  thread.stack.frames.back().name = "IL_STUB_PInvoke";
  const std::string sent = encode(thread);
  EXPECT_TRUE(decode(std::string_view(sent).substr(kLengthBytes)) == Message(thread));
  EXPECT_EQ(sent.find("orders!wait"), sent.rfind("orders!wait")) << "each text crosses the pipe once";
}

// Names are those of FunctionIDs. Code of the runtime that is no method has none, so its name comes with the frame.
TEST(Protocol, TheKindOfTheRuntimesOwnCodeIsItsName) {
  Thread thread{.os_id = 1};
  thread.stack.frames.push_back(Frame{.kind = FrameKind::stub, .address = 0x680F'10E7, .name = "call counter"});
  EXPECT_TRUE(through(thread) == Message(thread));
  thread.stack.frames.back().function = 3;
  EXPECT_EQ(std::get<Thread>(*through(thread)).stack.frames.back().name, "");
}

// mixwalk names native frames itself: no name that a process sends may stand for one.
TEST(Protocol, ANameOfAnotherFrameIsRefused) {
  // The message is thread { frame { kind, name: "a", … } }.
  const auto frame = [](int kind, std::initializer_list<int> more) {
    const std::string content = bytes({tag(1, kVarint), kind, static_cast<char>(tag(23, kBytes) | 0x80), 1, 1, 'a'});
    return message(6, message(8, content + bytes(more)));
  };
  constexpr int kStub = static_cast<int>(FrameKind::stub), kNative = static_cast<int>(FrameKind::native);
  EXPECT_TRUE(decode(frame(kStub, {})));
  EXPECT_FALSE(decode(frame(kNative, {})));
  EXPECT_FALSE(decode(frame(kStub, {tag(1, kVarint), kNative}))) << "the last kind counts";
  EXPECT_FALSE(decode(frame(kStub, {tag(6, kFixed64), 1, 0, 0, 0, 0, 0, 0, 0}))) << "it has a FunctionID";
  EXPECT_FALSE(decode(frame(kStub, {tag(10, kVarint), 1}))) << "an inlined stub has its own";
  Thread thread{.os_id = 1};
  thread.stack.frames.push_back(Frame{.kind = FrameKind::stub, .name = std::string(65, 'x')});
  EXPECT_FALSE(through(thread));
}

TEST(Protocol, ATargetThatWasNotSentIsRefused) {
  // The message is thread { frame { target: 1 } }.
  EXPECT_FALSE(decode(bytes({tag(6, kBytes), 4, tag(8, kBytes), 2, tag(9, kVarint), 1})));
  // The message is thread { target: "a", frame { target: 1 } }.
  EXPECT_TRUE(decode(bytes({tag(6, kBytes), 8, static_cast<char>(tag(17, kBytes) | 0x80), 1, 1, 'a', tag(8, kBytes), 2,
                            tag(9, kVarint), 1})));
}

TEST(Protocol, TargetsThatWouldUnfoldAreLeftOut) {
  const std::string target(1 << 20, 'x');
  Thread thread{.os_id = 1};
  thread.stack.frames.assign(100, Frame{.kind = FrameKind::stub, .target = target});
  const std::string sent = encode(thread);
  const auto message = decode(std::string_view(sent).substr(kLengthBytes));
  ASSERT_TRUE(message);
  const auto& frames = std::get<Thread>(*message).stack.frames;
  EXPECT_EQ(frames[63].target, target);
  EXPECT_EQ(frames[64].target, "");
}

TEST(Protocol, DeepestStackIsAMessage) {
  const StackFrame managed{
      {.kind = FrameKind::managed, .address = ~0ull, .function = ~0ull, .il = {0x7FFF'FFFF, ~0u, ~0u}}};
  Thread thread{.os_id = 1};
  // The stack has kMaxFrames frames, as large as frames can be. Every other frame is a run of its own.
  for (std::int32_t i = 0; i < 32'768; ++i) {
    thread.stack.frames.push_back(
        Frame{.address = ~0ull, .function = ~0ull, .module = 0x7FFF'FFFF, .target = "orders!wait_for_reply"});
    thread.stack.frames.push_back(managed);
  }
  const std::string sent = encode(thread);
  EXPECT_TRUE(decode_length(sent));
  EXPECT_TRUE(decode(std::string_view(sent).substr(kLengthBytes)) == Message(thread));
}

}  // namespace
}  // namespace mixwalk
