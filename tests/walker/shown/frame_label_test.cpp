#include "walker/shown/frame_label.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

std::string label(const Frame& frame) {
  return utf8_label({{.base = 0x1000, .path = "C:\\orders\\orders.dll"}, {.base = 0x1000, .path = "C:\\\xff.dll"}},
                    frame);
}

TEST(FrameLabel, ANativeFunctionIsItsImageAndSymbol) {
  EXPECT_EQ(label({.address = 0x1010, .module = 0, .name = "submit_order", .displacement = 4}),
            "orders.dll!submit_order");
}

TEST(FrameLabel, NativeCodeWithoutNameIsItsPlace) {
  EXPECT_EQ(label({.address = 0x1010, .module = 0}), "orders.dll!0x10");
  EXPECT_EQ(label({.address = 0x1010}), "[code at 0x1010]");
}

TEST(FrameLabel, AManagedFunctionIsItsName) {
  EXPECT_EQ(label({.kind = FrameKind::managed, .address = 1, .name = "A.B()"}), "A.B()");
  EXPECT_EQ(label({.kind = FrameKind::managed, .address = 1, .name = "A+<B>d__0.MoveNext()"}), "A.B()");
  EXPECT_EQ(label({.kind = FrameKind::managed, .address = 1}), "[managed code at 0x1]");
}

TEST(FrameLabel, AStubIsWhatItDoesAndWhatItLeadsTo) {
  const auto stub = [](std::string name, std::string target) {
    return label({.kind = FrameKind::stub, .address = 1, .name = std::move(name), .target = std::move(target)});
  };
  EXPECT_EQ(stub("IL_STUB_PInvoke", "orders!wait<int>"), "[P/Invoke] orders!wait<int>");
  EXPECT_EQ(stub("IL_STUB_PInvoke", ""), "[P/Invoke]");
  EXPECT_EQ(stub("IL_STUB_ReversePInvoke", "Orders.Client+<Check>d__7.MoveNext()"), "[callback] Orders.Client.Check()");
  EXPECT_EQ(stub("IL_STUB_CLRtoCOM", "IOrders.Submit(System.Int32)"), "[COM out] IOrders.Submit(int)");
  EXPECT_EQ(stub("IL_STUB_COMtoCLR", "Orders.Server.Submit(System.Int32)"), "[COM in] Orders.Server.Submit(int)");
  EXPECT_EQ(stub("IL_STUB_MulticastDelegate_Invoke", ""), "[delegate invoke]");
}

TEST(FrameLabel, CodeOfTheRuntimeIsInBrackets) {
  EXPECT_EQ(label({.kind = FrameKind::stub, .address = 1, .name = "IL_STUB_StructMarshal"}),
            "[IL_STUB_StructMarshal]");
  EXPECT_EQ(label({.kind = FrameKind::stub, .address = 0x1001, .module = 0}),
            "[stub at orders.dll!0x1]");
}

TEST(FrameLabel, AGapSaysWhy) {
  EXPECT_EQ(label({.kind = FrameKind::gap, .why = OpenReason::no_unwind}),
            "[gap: the code has no unwind data]");
}

TEST(FrameLabel, WhatIsNoUtf8IsReplaced) {
  EXPECT_EQ(label({.address = 0x1010, .module = 1, .name = "a\xc3"}), "\uFFFD.dll!a\uFFFD");
}

}  // namespace
}  // namespace mixwalk
