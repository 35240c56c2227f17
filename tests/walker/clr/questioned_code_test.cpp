#include "walker/clr/questioned_code.h"

#include <gtest/gtest.h>

#include "tests/builders/fake_clr_questions.h"

namespace mixwalk {
namespace {

TEST(QuestionedCodeTest, MethodsStubsAndWhatIsNeither) {
  test::FakeClrQuestions clr;
  clr.add_code({.method = 0x10, .start = 0x1000, .hot_bytes = 0x100});
  clr.add_code({.method = 0x20, .start = 0x2000, .hot_bytes = 0x100});
  clr.add_method(0x10, {"A.B()", false});
  clr.add_method(0x20, {"IL_STUB_PInvoke", true});
  QuestionedCode code(clr);
  EXPECT_EQ(code.at(0x1080).id, 0x10u);
  EXPECT_FALSE(code.at(0x1080).stub);
  EXPECT_TRUE(code.at(0x20FF).stub);
  EXPECT_EQ(code.at(0x2100).id, 0u);
}

TEST(QuestionedCodeTest, NamesOfFrames) {
  test::FakeClrQuestions clr;
  clr.add_method(0x10, {"A.B()", false});
  Snapshot snapshot;
  snapshot.threads.resize(1);
  snapshot.threads[0].stack.frames.resize(3);
  snapshot.threads[0].stack.frames[0].name = "NtWait";
  snapshot.threads[0].stack.frames[1].function = 0x10;
  snapshot.threads[0].stack.frames[2].function = 0x99;
  name_functions(snapshot, clr, std::chrono::milliseconds(0));
  EXPECT_EQ(snapshot.threads[0].stack.frames[1].name, "") << "the time for all names is over";
  name_functions(snapshot, clr);
  EXPECT_EQ(snapshot.threads[0].stack.frames[0].name, "NtWait");
  EXPECT_EQ(snapshot.threads[0].stack.frames[1].name, "A.B()");
  EXPECT_EQ(snapshot.threads[0].stack.frames[2].name, "");
  // The target has run since, and the id belongs to another method.
  test::FakeClrQuestions later;
  later.add_method(0x10, {"C.D()", false});
  later.add_method(0x99, {"E.F()", false});
  name_functions(snapshot, later);
  EXPECT_EQ(snapshot.threads[0].stack.frames[1].name, "A.B()");
  EXPECT_EQ(snapshot.threads[0].stack.frames[2].name, "E.F()");
}

// There are three managed frames, a stub and a native frame; the second frame is a caller.
TEST(QuestionedCodeTest, PlacesInIl) {
  test::FakeClrQuestions clr;
  clr.assemblies = {{.path = "C:\\a.dll"}, {.path = "C:\\b.dll"}};
  clr.places[0x1000] = {{0, 0x0600'0001, 5}, 0x10};
  clr.places[0x1FFF] = {{1, 0x0600'0002, 7}, 0x20};
  clr.places[0x3000] = {{1, 0x0600'0003, 9}, 0x31};  // another method is at this address now
  clr.places[0x4000] = {{0, 0x0600'0004, 1}, 0x40};
  Snapshot snapshot;
  snapshot.threads.resize(1);
  std::vector<StackFrame>& frames = snapshot.threads[0].stack.frames;
  frames = {Frame{.kind = FrameKind::managed, .address = 0x1000, .function = 0x10},
            Frame{.kind = FrameKind::managed, .address_kind = AddressKind::return_address, .address = 0x2000,
                  .function = 0x20},
            Frame{.kind = FrameKind::managed, .address = 0x3000, .function = 0x30},
            Frame{.kind = FrameKind::stub, .address = 0x4000, .function = 0x40},
            Frame{.kind = FrameKind::native, .address = 0x1000}};
  add_il_places(snapshot, clr);
  EXPECT_EQ(snapshot.assemblies, clr.assemblies);
  EXPECT_EQ(frames[0].il, (IlPlace{0, 0x0600'0001, 5}));
  EXPECT_EQ(frames[1].il, (IlPlace{1, 0x0600'0002, 7}));
  for (std::size_t i = 2; i < frames.size(); ++i) EXPECT_EQ(frames[i].il, IlPlace()) << i;
}

// Returns the target of a stub with that name, which leads to a method; native code is above the stub.
std::string target_of(test::FakeClrQuestions& clr, const std::string& stub, std::uint64_t callee,
                      FrameKind above = FrameKind::native) {
  clr.add_method(0x20, {stub, true});
  clr.add_method(0x50, {.name = "Orders.Check()"});
  Snapshot snapshot;
  snapshot.threads.resize(1);
  std::vector<StackFrame>& frames = snapshot.threads[0].stack.frames;
  frames.resize(2);
  frames[0].kind = above;
  if (above == FrameKind::managed) frames[0].function = 0x50;
  frames[1] = Frame{.kind = FrameKind::stub, .function = 0x20};
  frames[1].callee = callee;
  name_functions(snapshot, clr);
  return frames[1].target;
}

TEST(QuestionedCodeTest, WhatStubsLeadTo) {
  test::FakeClrQuestions clr;
  clr.add_method(0x30, {.name = "Orders.Wait()", .import = "orders!wait_for_reply"});
  clr.add_method(0x40, {.name = "IOrders.Submit()", .com = true});
  EXPECT_EQ(target_of(clr, "IL_STUB_PInvoke", 0x30), "orders!wait_for_reply");
  EXPECT_EQ(target_of(clr, "IL_STUB_CLRtoCOM", 0x40), "IOrders.Submit()");
  EXPECT_EQ(target_of(clr, "IL_STUB_ReversePInvoke", 0, FrameKind::managed), "Orders.Check()");
  EXPECT_EQ(target_of(clr, "IL_STUB_COMtoCLR", 0, FrameKind::managed), "Orders.Check()");
  // The words of the stack are not such a method.
  EXPECT_EQ(target_of(clr, "IL_STUB_PInvoke", 0x40), "");
  EXPECT_EQ(target_of(clr, "IL_STUB_PInvoke", 0x50), "");
  EXPECT_EQ(target_of(clr, "IL_STUB_PInvoke", 0x99), "");
  EXPECT_EQ(target_of(clr, "IL_STUB_CLRtoCOM", 0x30), "");
  EXPECT_EQ(target_of(clr, "IL_STUB_CLRtoCOM", 0x50), "");
  EXPECT_EQ(target_of(clr, "IL_STUB_InstantiatingStub", 0x30), "");
  EXPECT_EQ(target_of(clr, "IL_STUB_ReversePInvoke", 0), "");
}

TEST(QuestionedCodeTest, AStubThatIsInlined) {
  test::FakeClrQuestions clr;
  clr.add_method(0x10, {.name = "Orders.Run()"});
  clr.add_method(0x30, {.name = "Orders.Wait()", .import = "orders!wait_for_reply"});
  clr.add_method(0x40, {.name = "IOrders.Submit()", .com = true});
  for (const std::uint64_t callee : {0x30, 0x40, 0x99}) {
    Snapshot snapshot;
    snapshot.threads.resize(1);
    std::vector<StackFrame>& frames = snapshot.threads[0].stack.frames;
    frames.resize(2);
    frames[1] = Frame{.kind = FrameKind::managed, .function = 0x10};
    frames[1].callee = callee;
    name_functions(snapshot, clr);
    name_functions(snapshot, clr);
    EXPECT_EQ(frames.back().name, "Orders.Run()");
    EXPECT_EQ(frames.back().target, "");
    if (callee != 0x30) {
      EXPECT_EQ(frames.size(), 2u) << "no such method";
      continue;
    }
    ASSERT_EQ(frames.size(), 3u);
    EXPECT_EQ(frames[1].kind, FrameKind::stub);
    EXPECT_EQ(frames[1].inline_depth, 1);
    EXPECT_EQ(frames[1].target, "orders!wait_for_reply");
  }
}

TEST(QuestionedCodeTest, CodeOfTheRuntimeThatBelongsToNoMethod) {
  test::FakeClrQuestions clr;
  clr.code_names[0x1000] = "CLRStub[VSD_ResolveStub]@1000";
  clr.code_names[0x1FFF] = "JIT_WriteBarrier";
  clr.code_names[0x3000] = "System.String.Concat(System.String)";
  clr.code_names[0x4000] = "CLRStub[JumpStub]@4000";
  Snapshot snapshot;
  snapshot.threads.resize(1);
  std::vector<StackFrame>& frames = snapshot.threads[0].stack.frames;
  frames = {Frame{.kind = FrameKind::native, .address = 0x1000},
            Frame{.kind = FrameKind::native, .address_kind = AddressKind::return_address, .address = 0x2000},
            Frame{.kind = FrameKind::native, .address = 0x3000},
            Frame{.kind = FrameKind::native, .address = 0x4000, .module = 0},
            Frame{.kind = FrameKind::native, .address = 0x5000},
            Frame{.kind = FrameKind::gap}};
  name_functions(snapshot, clr);
  EXPECT_EQ(frames[0].kind, FrameKind::stub);
  EXPECT_EQ(frames[0].name, "VSD_ResolveStub");
  EXPECT_EQ(frames[1].kind, FrameKind::stub);
  EXPECT_EQ(frames[1].name, "JIT_WriteBarrier");
  for (std::size_t i = 2; i < 5; ++i) {
    EXPECT_EQ(frames[i].kind, FrameKind::native) << i;
    EXPECT_EQ(frames[i].name, "") << i;
  }
}

}  // namespace
}  // namespace mixwalk
