#include "walker/outside/managed_exception.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/builders/byte_writer.h"
#include "tests/builders/fake_clr_questions.h"
#include "tests/builders/pieced_memory.h"
#include "tests/walker/target/standing_target.h"
#include "walker/model/crash_words.h"
#include "walker/outside/handled_exceptions.h"

namespace mixwalk {
namespace {

using test::ByteWriter;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr std::uint64_t kFaulted = 0x7000;  // the address of the first element of each trace

class ManagedExceptionTest : public ::testing::Test {
 protected:
  ManagedExceptionTest() {
    snapshot_.runtime = {.name = ".NET", .major = 10};
    snapshot_.crash = Crash{.thread = 7, .code = exception_code::kManaged, .objects = {}};
    clr_.clr_threads = {{.os_id = 6}, {.os_id = 7, .thrown = 0x500}};
    heap_.put(0x500, ByteWriter().u64(0x1000));
    exception(0x1000, "Orders.OutOfStock", 0x2000, 0x3000, 0);
    exception(0x3000, "System.IO.IOException", 0, 0, 0x4000);
    text(0x2000, u"no st\u00F6ck");
    array(0x4000, {0x51, 0x52});
    clr_.add_method(0x51, {.name = "Orders.Reserve()", .stub = false, .import = {}, .com = false});
    clr_.add_method(0x52, {.name = "Orders.Submit()", .stub = false, .import = {}, .com = false});
  }

  void exception(std::uint64_t at, const char* type, std::uint64_t message, std::uint64_t inner, std::uint64_t trace) {
    heap_.put(at, ByteWriter().u64(0x99).u64(0).u64(message).u64(0).u64(inner).u64(0).u64(trace).zeros(0x34)
                      .u32(0x80131620).u32(0).u32(0x80131509));
    clr_.objects_of[at] = type;
  }
  void text(std::uint64_t at, std::u16string_view units) {
    ByteWriter bytes;
    bytes.u64(0x98).u32(units.size());
    for (const char16_t unit : units) bytes.u16(unit);
    heap_.put(at, bytes);
    clr_.objects_of[at] = "System.String";
  }
  void array(std::uint64_t at, const std::vector<std::uint64_t>& methods) {
    ByteWriter bytes;
    bytes.u64(0x97).u64(16 + 32 * methods.size()).u64(methods.size()).u64(0);
    for (const std::uint64_t method : methods) bytes.u64(kFaulted).u64(0x9000).u64(method).u64(0);
    heap_.put(at, bytes);
    clr_.objects_of[at] = "System.Byte[]";
  }
  const std::vector<CrashObject>& objects() {
    add_managed_exceptions(snapshot_, heap_, clr_);
    return snapshot_.crash->objects;
  }

  // The crashed thread has these frames, each with a Rsp 0x100 above that of the frame before.
  void frames(const std::vector<std::string>& names) {
    Thread& thread = snapshot_.threads.emplace_back();
    thread.os_id = 7;
    for (const std::string& name : names) {
      StackFrame frame;
      frame.kind = FrameKind::managed;
      frame.name = name;
      frame.address = kFaulted + thread.stack.frames.size();
      frame.stack_pointer = 0x9000 + 0x100 * thread.stack.frames.size();
      thread.stack.frames.push_back(frame);
    }
  }

  Snapshot snapshot_;
  test::PiecedMemory heap_;
  test::FakeClrQuestions clr_;
};

TEST_F(ManagedExceptionTest, HasItsTypeItsMessageAndItsInnerException) {
  ASSERT_THAT(objects(), SizeIs(2));
  EXPECT_EQ(objects()[0], (CrashObject{.type = "Orders.OutOfStock",
                                       .message = "no st\xC3\xB6"
                                                  "ck",
                                       .hresult = 0x80131620,
                                       .trace = {}}));
  EXPECT_EQ(objects()[1].type, "System.IO.IOException");
  EXPECT_EQ(objects()[1].message, "");
  EXPECT_THAT(objects()[1].trace, ElementsAre("Orders.Reserve()", "Orders.Submit()"));
}

TEST_F(ManagedExceptionTest, AStackTraceInAnArrayOfObjects) {
  heap_.put(0x6000, ByteWriter().u64(0x96).u64(2).u64(0x4000).u64(0));
  clr_.objects_of[0x6000] = "System.Object[]";
  exception(0x3000, "System.IO.IOException", 0, 0, 0x6000);
  EXPECT_THAT(objects()[1].trace, SizeIs(2));
}

TEST_F(ManagedExceptionTest, ACircleOfInnerExceptionsEnds) {
  exception(0x3000, "System.IO.IOException", 0, 0x1000, 0);
  EXPECT_THAT(objects(), SizeIs(2));
}

TEST_F(ManagedExceptionTest, MemoryThatIsNoExceptionSaysNothing) {
  // The message is no text, and the trace is no array.
  exception(0x1000, "Orders.OutOfStock", 0x4000, 0xDEAD, 0x2000);
  ASSERT_THAT(objects(), SizeIs(1));
  EXPECT_EQ(objects()[0],
            (CrashObject{.type = "Orders.OutOfStock", .message = "", .hresult = 0x80131620, .trace = {}}));
  heap_.put(0x2000, ByteWriter().u64(0x98).u32(0xFFFF'FFFF));
  exception(0x1000, "Orders.OutOfStock", 0x2000, 0, 0x4000);
  heap_.put(0x4000, ByteWriter().u64(0x97).u64(16).u64(0xFFFF'FFFF).u64(0));
  EXPECT_EQ(objects()[0].trace.size(), 0u);
  // The array has fewer bytes than its elements.
  heap_.put(0x4000, ByteWriter().u64(0x97).u64(16 + 32 - 1).u64(1).u64(0).u64(1).u64(2).u64(0x51).u64(0));
  EXPECT_EQ(objects()[0], (CrashObject{.type = "Orders.OutOfStock", .message = "", .hresult = 0x80131620, .trace = {}}));
  clr_.objects_of[0x1000].clear();
  EXPECT_THAT(objects(), SizeIs(0));
}

TEST_F(ManagedExceptionTest, ItsHresultIsElsewhereInNet8) {
  snapshot_.runtime.major = 8;
  EXPECT_EQ(objects()[0].hresult, 0x80131509u);
  snapshot_.runtime.major = 10;
  EXPECT_EQ(objects()[0].hresult, 0x80131620u);
  snapshot_.runtime.major = 11;
  EXPECT_EQ(objects()[0].hresult, 0u) << "its place is not known";
}

TEST_F(ManagedExceptionTest, AFaultOfWhichTheRuntimeMadeAnException) {
  snapshot_.crash->code = exception_code::kAccessViolation;
  snapshot_.crash->address = kFaulted;
  exception(0x1000, "System.NullReferenceException", 0x2000, 0, 0x4000);
  EXPECT_THAT(objects(), SizeIs(0)) << "the crashed thread is not known";
  frames({"Orders.Reserve()", "Orders.Submit()"});
  EXPECT_THAT(objects(), SizeIs(1));
  snapshot_.crash->objects.clear();
  // .NET 8 has the address before that of the fault, other versions may have the one behind it.
  for (const std::uint64_t address : {kFaulted + 1, kFaulted - 1}) {
    snapshot_.crash->objects.clear();
    snapshot_.crash->address = snapshot_.threads[0].stack.frames[0].address = address;
    EXPECT_THAT(objects(), SizeIs(1));
  }
  snapshot_.crash->objects.clear();
  for (const std::uint64_t address : {kFaulted + 2, kFaulted - 2}) {
    snapshot_.crash->address = snapshot_.threads[0].stack.frames[0].address = address;
    EXPECT_THAT(objects(), SizeIs(0)) << "thrown by another frame";
  }
  snapshot_.crash->address = snapshot_.threads[0].stack.frames[0].address = kFaulted;
  snapshot_.threads[0].stack.frames[0].stack_pointer += 8;
  EXPECT_THAT(objects(), SizeIs(0)) << "thrown at another time";
  snapshot_.threads[0].stack.frames[0].stack_pointer -= 8;
  snapshot_.threads[0].stack.frames[0].kind = FrameKind::native;
  EXPECT_THAT(objects(), SizeIs(0));
}

class FailFastTest : public ManagedExceptionTest {
 protected:
  FailFastTest() {
    snapshot_.crash->code = exception_code::kManagedFailFast;
    exception(0x1000, "System.ExecutionEngineException", 0, 0x3000, 0);
    frames({"System.RuntimeType.Get()", "System.Environment.FailFast(System.StackCrawlMarkHandle)",
            "System.Environment.FailFast(System.String)", "Orders.Close()"});
    text(0x2100, u"stale");
    text(0x2200, u"of the caller");
    // The frames of FailFast are at 0x9100 to 0x9300, and its arguments may be up to 0x9320.
    stack_.zeros(0xF8).u64(0x2100).zeros(0x20).u64(0x200C).u64(0x3000).zeros(0x1D0).u64(0x2000).zeros(0x18).u64(0x2200);
    heap_.put(0x9000, stack_);
  }

  ByteWriter stack_;
};

TEST_F(FailFastTest, HasItsMessageAndTheExceptionThatItGotButNotThatOfTheRuntime) {
  ASSERT_THAT(objects(), SizeIs(1));
  EXPECT_EQ(objects()[0].type, "System.IO.IOException");
  EXPECT_EQ(snapshot_.crash->text, "no st\xC3\xB6""ck");
}

TEST_F(FailFastTest, OfTwoTextsNoneIsKnownToBeTheMessage) {
  ByteWriter two;
  two.zeros(0x108).u64(0x2000).u64(0x2100).zeros(0x300);
  heap_.put(0x9000, two);
  objects();
  EXPECT_EQ(snapshot_.crash->text, "");
}

TEST_F(FailFastTest, FramesThatLieHaveNoMessage) {
  snapshot_.threads[0].stack.frames[3].stack_pointer = 0;
  objects();
  EXPECT_EQ(snapshot_.crash->text, "");
  snapshot_.threads[0].stack.frames[3].stack_pointer = 0xFFFF'0000'0000;
  objects();
  EXPECT_EQ(snapshot_.crash->text, "") << "the caller's own words are among them";
  snapshot_.threads[0].stack.frames.resize(3);
  snapshot_.crash->text.clear();
  objects();
  EXPECT_EQ(snapshot_.crash->text, "");
  snapshot_.threads.clear();
  objects();
  EXPECT_EQ(snapshot_.crash->text, "");
}

TEST_F(FailFastTest, OfTheRuntimeItselfAsInNet8) {
  std::vector<StackFrame>& stack = snapshot_.threads[0].stack.frames;
  stack[0].kind = stack[1].kind = stack[2].kind = FrameKind::native;
  objects();
  EXPECT_EQ(snapshot_.crash->text, "no st\xC3\xB6""ck");
  stack[2].kind = FrameKind::gap;
  snapshot_.crash->text.clear();
  objects();
  EXPECT_EQ(snapshot_.crash->text, "") << "the frame that the caller has called is not known";
  stack.erase(stack.begin(), stack.begin() + 3);
  objects();
  EXPECT_EQ(snapshot_.crash->text, "");
  stack.clear();
  objects();
  EXPECT_EQ(snapshot_.crash->text, "");
}

class HandledExceptionsTest : public ManagedExceptionTest {
 protected:
  HandledExceptionsTest() {
    snapshot_.crash.reset();
    text(0x2300, u"10 s");
    exception(0x1400, "System.TimeoutException", 0x2300, 0, 0);
    clr_.handled = {{.os_id = 7, .exceptions = {{0x9350, 0x1000}, {0x9250, 0x1400}}}};
    // The ExceptionInfos are in the frames of the runtime at 0x9300 and 0x9200.
    frames({"", "Orders.Retry()", "", "", "Orders.Main()"});
    snapshot_.modules = {{.base = 0x7000, .size = 0x1000, .path = "C:\\coreclr.dll"}, {.path = "C:\\orders.dll"}};
    for (const std::size_t i : {0, 2, 3}) {
      snapshot_.threads[0].stack.frames[i].kind = FrameKind::native;
      snapshot_.threads[0].stack.frames[i].module = 0;
    }
  }
  std::vector<std::string> handled() {
    add_handled_exceptions(snapshot_, target_, clr_);
    std::vector<std::string> types;
    for (const HandledException& exception : snapshot_.threads[0].handles) types.push_back(exception.objects[0].type);
    return types;
  }

  // A target with the memory of this test.
  class HeapTarget : public test::StandingTarget {
   public:
    explicit HeapTarget(const MemoryReader& heap) : heap_(heap) {}
    const MemoryReader& memory() const noexcept override { return heap_; }

   private:
    const MemoryReader& heap_;
  };
  HeapTarget target_{heap_};
};

TEST_F(HandledExceptionsTest, InnermostFirstEachWithItsInnerException) {
  EXPECT_THAT(handled(), ElementsAre("Orders.OutOfStock", "System.TimeoutException"));
  const std::vector<HandledException>& handles = snapshot_.threads[0].handles;
  ASSERT_THAT(handles[0].objects, SizeIs(2));
  EXPECT_EQ(handles[0].objects[1].type, "System.IO.IOException");
  EXPECT_THAT(handles[0].objects[1].trace, ElementsAre("Orders.Reserve()", "Orders.Submit()"));
  EXPECT_EQ(handles[1].objects[0].message, "10 s");
  EXPECT_THAT(handled(), SizeIs(2)) << "a second search replaces what the first one has found";
}

TEST_F(HandledExceptionsTest, AnExceptionThatIsThrownAgainIsOne) {
  clr_.handled[0].exceptions.push_back({0x9150, 0x1000});
  EXPECT_THAT(handled(), SizeIs(2));
}

TEST_F(HandledExceptionsTest, TheCrashIsNotShownTwice) {
  snapshot_.crash = Crash{.thread = 7, .code = exception_code::kManaged, .objects = {}};
  EXPECT_THAT(objects(), SizeIs(2));
  EXPECT_THAT(handled(), ElementsAre("System.TimeoutException"));
  snapshot_.crash->thread = 6;
  EXPECT_THAT(handled(), SizeIs(2)) << "another thread handles such an exception";
}

TEST_F(HandledExceptionsTest, WhatIsNoExceptionAndAThreadThatIsNotThere) {
  clr_.objects_of[0x1400].clear();
  clr_.handled.push_back({.os_id = 8, .exceptions = {{0x9350, 0x1000}}});
  EXPECT_THAT(handled(), ElementsAre("Orders.OutOfStock"));
  snapshot_.runtime.name = ".NET Framework";
  snapshot_.threads[0].handles.clear();
  EXPECT_THAT(handled(), SizeIs(0));
}

TEST_F(HandledExceptionsTest, OfAProcessThatRunsOnlyThoseThatItsStackShows) {
  target_.live = true;
  EXPECT_THAT(handled(), SizeIs(2));
  clr_.handled[0].exceptions[0].tracker = 0x9050;
  EXPECT_THAT(handled(), ElementsAre("System.TimeoutException")) << "the runtime has called no handler there";
  clr_.handled[0].exceptions[0].tracker = 0x9150;
  EXPECT_THAT(handled(), ElementsAre("System.TimeoutException")) << "it is in a frame of managed code";
  snapshot_.threads[0].stack.frames[2].module = 1;
  EXPECT_THAT(handled(), SizeIs(0)) << "it is in a frame of the program";
  snapshot_.threads[0].stack.frames[2].module = 0;
  clr_.handled[0].exceptions[1].tracker = 0x9450;
  EXPECT_THAT(handled(), SizeIs(0)) << "it is above the stack";
  target_.live = false;
  EXPECT_THAT(handled(), SizeIs(2));
}

TEST_F(HandledExceptionsTest, OfAProcessThatRunsOnlyThoseThatTwoLooksFind) {
  target_.live = true;
  clr_.on_run = [this] { clr_.handled[0].exceptions.erase(clr_.handled[0].exceptions.begin()); };
  EXPECT_THAT(handled(), ElementsAre("System.TimeoutException"));
  clr_.on_run = [this] { clr_.handled.clear(); };
  EXPECT_THAT(handled(), SizeIs(0));
}

TEST_F(HandledExceptionsTest, OfAProcessThatRunsTheObjectsAreReadBetweenTheTwoLooks) {
  target_.live = true;
  clr_.on_run = [this] { clr_.objects_of[0x1000] = clr_.objects_of[0x1400] = {"System.String"}; };
  EXPECT_THAT(handled(), ElementsAre("Orders.OutOfStock", "System.TimeoutException"));
}

TEST_F(HandledExceptionsTest, ForgedMemoryHasNoMoreThanTheLimit) {
  clr_.handled.clear();
  for (std::uint32_t i = 0; i < 2000; ++i) {
    snapshot_.threads.push_back({.os_id = 100 + i});
    clr_.handled.push_back({.os_id = 100 + i, .exceptions = {{0x9250, 0x1400}}});
  }
  handled();
  const auto handles = [](const Thread& thread) { return !thread.handles.empty(); };
  EXPECT_EQ(std::ranges::count_if(snapshot_.threads, handles), 1000);
}

TEST_F(HandledExceptionsTest, ObjectsThatAreNoneCountTowardsTheLimit) {
  clr_.handled.assign(1000, {.os_id = 7, .exceptions = {{0x9250, 0x5000}}});
  clr_.handled.push_back({.os_id = 7, .exceptions = {{0x9250, 0x1400}}});
  EXPECT_THAT(handled(), SizeIs(0));
}

TEST_F(ManagedExceptionTest, OtherCrashesHaveNothingToDoWithTheLastException) {
  snapshot_.crash->code = exception_code::kAccessViolation;
  EXPECT_THAT(objects(), SizeIs(0));
  snapshot_.crash->code = exception_code::kManaged;
  snapshot_.runtime.name = ".NET Framework";
  EXPECT_THAT(objects(), SizeIs(0));
}

}  // namespace
}  // namespace mixwalk
