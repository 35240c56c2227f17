#include "walker/locks/semaphore_code.h"

#include <gtest/gtest.h>

#include "tests/walker/locks/il_code.h"

namespace mixwalk {
namespace {

using test::Code;
using test::kReleaseCall, test::kWaitAsyncCall, test::kWaitCall;
using Kind = ClrIlStep::Kind;
using Il = std::vector<ClrIlStep>;

LoadedBy argument(std::int64_t number, std::vector<std::string> fields = {}) {
  return {.argument = number, .fields = std::move(fields)};
}
using Entered = std::vector<LoadedBy>;

// first.Wait(); second.Wait(); second.Release(); first.Release();
Code take_both() {
  Code code;
  code.argument(0).call(kWaitCall).argument(1).call(kWaitCall);
  return code.argument(1).call(kReleaseCall).argument(0).call(kReleaseCall);
}

TEST(SemaphoreCode, WhatWasEnteredBeforeIsHeld) {
  const Il il = take_both().il;
  EXPECT_EQ(semaphores_entered_at(il, 10), Entered{});
  EXPECT_EQ(semaphores_entered_at(il, 30), Entered{argument(0)});
  EXPECT_EQ(semaphores_entered_at(il, 50), (Entered{argument(0)}));
  EXPECT_EQ(semaphores_entered_at(il, 70), Entered{});
  EXPECT_EQ(semaphore_awaited_at(il, 30), argument(1));
  EXPECT_EQ(semaphore_awaited_at(il, 50), std::nullopt);
}

TEST(SemaphoreCode, WhatIsNeverReleasedIsNot) {
  Il il = take_both().il;
  il[7].name = "Other";
  EXPECT_EQ(semaphores_entered_at(il, 30), Entered{});
}

TEST(SemaphoreCode, ACallThatMayNotHaveHappenedIsNone) {
  Code code = take_both();
  code.step(Kind::branch, 20);  // from elsewhere to behind the call
  EXPECT_EQ(semaphores_entered_at(code.il, 30), Entered{});
  code.il.back().number = 0;
  EXPECT_EQ(semaphores_entered_at(code.il, 30), Entered{argument(0)});
  // An exception handler of code that begins before the call.
  code.il.push_back({.kind = Kind::branch, .begin = 0, .end = 0, .number = 30});
  EXPECT_EQ(semaphores_entered_at(code.il, 30), Entered{});
  code.il.back().begin = 20;
  EXPECT_EQ(semaphores_entered_at(code.il, 30), Entered{argument(0)});
}

TEST(SemaphoreCode, AReleaseOfWhatIsUnknownMayBeThis) {
  Code code;
  code.argument(0).call(kWaitCall).step(Kind::other).call(kReleaseCall).argument(1).call(kWaitCall);
  code.argument(0).call(kReleaseCall);
  EXPECT_EQ(semaphores_entered_at(code.il, 50), Entered{});
  code.il[2] = {Kind::load_argument, 20, 30, 5, ""};
  EXPECT_EQ(semaphores_entered_at(code.il, 50), Entered{argument(0)});
}

// a.Open.Wait(); a.Open = other; a.Open.Wait(); a.Open.Release(); a.Open.Release();
TEST(SemaphoreCode, AFieldThatTheCodeSetsHasAnotherOne) {
  for (const Kind store : {Kind::store_field, Kind::store_static}) {
    for (const std::string name : {"Open", "Other"}) {
      Code code;
      const auto add = [&](const char* call) {
        if (store == Kind::store_field) code.argument(0).field("Open").call(call);
        if (store == Kind::store_static) code.step(Kind::load_static, 0, "Open").call(call);
      };
      add(kWaitCall);
      code.step(store, 0, name);
      add(kWaitCall);
      const std::uint32_t at = code.il.back().begin;
      add(kReleaseCall);
      add(kReleaseCall);
      EXPECT_EQ(semaphores_entered_at(code.il, at).size(), name == "Open" ? 0u : 1u);
    }
  }
}

TEST(SemaphoreCode, AWaitWithATimeMayHaveFailed) {
  Il il = take_both().il;
  il[1].number = 1;
  EXPECT_EQ(semaphores_entered_at(il, 30), Entered{});
}

TEST(SemaphoreCode, ALocalVariableIsWhatItIsSetTo) {
  Code code;
  code.argument(0).field("gate").step(Kind::store_local, 2).step(Kind::load_local, 2).field("inner").call(kWaitCall);
  code.argument(1).call(kWaitCall).step(Kind::load_local, 2).field("inner").call(kReleaseCall);
  EXPECT_EQ(semaphores_entered_at(code.il, 70), (Entered{argument(0, {"gate", "inner"})}));
  code.argument(3).step(Kind::store_local, 2);
  EXPECT_EQ(semaphores_entered_at(code.il, 70), Entered{});
}

// await from.Open.WaitAsync(); await Run(); await to.Open.WaitAsync(); to.Open.Release(); from.Open.Release();
Code transfer() {
  Code code;
  code.argument(0).field("<>1__state");
  code.step(Kind::branch, 140).step(Kind::branch, 220);  // to behind the first two awaits
  code.argument(0).field("from").field("Open").call(kWaitAsyncCall).await(0);
  code.call("Run").await(1);
  code.argument(0).field("to").field("Open").call(kWaitAsyncCall).await(2);
  code.argument(0).field("to").field("Open").call(kReleaseCall);
  return code.argument(0).field("from").field("Open").call(kReleaseCall);
}

TEST(SemaphoreCode, OfAStateMachineGoesOnBehindItsAwaits) {
  const Il il = transfer().il;
  ASSERT_EQ(offset_of_await(il, 2), 290u);
  EXPECT_EQ(semaphores_entered_at(il, 290), Entered{argument(0, {"from", "Open"})});
  EXPECT_EQ(wait_before(il, 290), 260u);
  EXPECT_EQ(semaphore_awaited_at(il, 260), argument(0, {"to", "Open"}));
  // At the first await, it has entered none.
  ASSERT_EQ(offset_of_await(il, 0), 100u);
  EXPECT_EQ(semaphores_entered_at(il, 100), Entered{});
  EXPECT_EQ(offset_of_await(il, 7), std::nullopt);
}

// if (known) { await from.Open.WaitAsync(); }
TEST(SemaphoreCode, OfAStateMachineABranchByAValueIsNoWayOn) {
  Il il = transfer().il;
  il.insert(il.begin() + 4, {{Kind::load_field, 39, 39, 0, "known"}, {Kind::branch, 39, 40, 150, ""}});
  EXPECT_EQ(semaphores_entered_at(il, 290), Entered{});
}

TEST(SemaphoreCode, TheConstructorHasTheCount) {
  Code code;
  code.argument(0).step(Kind::constant, 1).call("System.Threading.SemaphoreSlim..ctor", 1);
  code.step(Kind::store_field, 1, "Open");
  EXPECT_EQ(first_count_of(code.il, "Open"), 1);
  EXPECT_EQ(first_count_of(code.il, "Closed"), std::nullopt);
  Il settable = code.il;
  settable[3].number = 0;
  EXPECT_EQ(first_count_of(settable, "Open"), std::nullopt);
  Il computed = code.il;
  computed[1].kind = Kind::load_local;
  EXPECT_EQ(first_count_of(computed, "Open"), std::nullopt);
  code.step(Kind::store_field, 1, "Open");
  EXPECT_EQ(first_count_of(code.il, "Open"), std::nullopt);
}

// Hall.Enter(Gates.North, hall.Gate, 5): a static method, or one of a hall.
Code call_of(bool instance) {
  Code code;
  code.step(Kind::load_local, 3);
  code.step(Kind::load_static, 0, "Gates.North").argument(2).field("Gate").step(Kind::constant, 5);
  code.call("Hall.Enter", instance ? 2 : 3);
  code.il.back().instance = instance;
  return code;
}

TEST(SemaphoreCode, WhatACallGivesAsAnArgument) {
  const LoadedBy north{.static_field = "Gates.North"}, gate{.argument = 2, .fields = {"Gate"}};
  for (const bool instance : {false, true}) {
    const Il il = call_of(instance).il;
    EXPECT_EQ(argument_given(il, "Hall.Enter", 0), north);
    EXPECT_EQ(argument_given(il, "Hall.Enter", 1), gate);
    EXPECT_EQ(argument_given(il, "Hall.Enter", 2), std::nullopt);  // a number
    for (const int none : {-1, 3, 1000}) EXPECT_EQ(argument_given(il, "Hall.Enter", none), std::nullopt);
    EXPECT_EQ(argument_given(il, "Hall.Leave", 0), std::nullopt);
  }
}

TEST(SemaphoreCode, WhatIsNotCertainlyGivenIsUnknown) {
  Code twice = call_of(false);
  twice.call("Hall.Enter", 3);
  EXPECT_EQ(argument_given(twice.il, "Hall.Enter", 0), std::nullopt);
  Code computed = call_of(false);
  computed.il[4] = {Kind::call, 40, 50, 0, "Hall.Count"};
  EXPECT_EQ(argument_given(computed.il, "Hall.Enter", 0), std::nullopt);
  EXPECT_EQ(argument_given(computed.il, "Hall.Enter", 2), std::nullopt);
  Code joined = call_of(false);
  joined.step(Kind::branch, 30);
  EXPECT_EQ(argument_given(joined.il, "Hall.Enter", 0), std::nullopt);
  Code stored = call_of(false);
  stored.step(Kind::store_argument, 2);
  EXPECT_EQ(argument_given(stored.il, "Hall.Enter", 1), std::nullopt);
  Code unknown = call_of(false);
  unknown.il[5].number = -1;
  EXPECT_EQ(argument_given(unknown.il, "Hall.Enter", 0), std::nullopt);
}

TEST(SemaphoreCode, AnArgumentThatTheMethodSetsIsNotThatOfTheCaller) {
  Code code;
  code.argument(0).call(kWaitCall).argument(1).call("P.Work").argument(0).call(kReleaseCall);
  EXPECT_EQ(semaphores_entered_at(code.il, 30), Entered{{.argument = 0}});
  code.step(Kind::store_argument, 0);
  EXPECT_EQ(semaphores_entered_at(code.il, 30), Entered{});
}

TEST(SemaphoreCode, WithoutCodeNothingIsKnown) {
  EXPECT_EQ(semaphores_entered_at({}, 30), Entered{});
  EXPECT_EQ(semaphore_awaited_at({}, 0), std::nullopt);
  EXPECT_EQ(offset_of_await({}, 0), std::nullopt);
  EXPECT_EQ(first_count_of({}, ""), std::nullopt);
  Code code;
  code.call(kWaitCall).call(kReleaseCall);
  EXPECT_EQ(semaphores_entered_at(code.il, 10), Entered{});
}

}  // namespace
}  // namespace mixwalk
