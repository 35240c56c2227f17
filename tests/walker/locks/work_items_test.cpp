#include "walker/locks/work_items.h"

#include <gtest/gtest.h>

#include "tests/walker/locks/standing_program.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kCode = 0x5'0000'1000, kMethod = 0x2'5000'0000;
constexpr char kBox[] =
    "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<System.Int32>+AsyncStateMachineBox<Hangs.P+<Fetch>d__3>";

class WorkItemsOf : public testing::Test, protected test::StandingProgram {
 protected:
  WorkItemsOf() {
    clr.add_method(kMethod, {.name = "Hangs.P.Send()"});
    callback = heap.object(heap.type("System.Threading.WaitCallback", {{"_target"}, {"_methodPtr"}, {"_methodPtrAux"}},
                                     heap.type("System.Delegate")));
  }
  std::string name(std::uint64_t item) { return WorkItems(paths, snapshot).of(item).method; }
  ObjectPaths paths{target.memory_of, clr};
  std::uint64_t callback = 0;
};

TEST_F(WorkItemsOf, AnAsyncMethodIsNamedByItsMachine) {
  const std::uint64_t machine = heap.value_type("Hangs.P+<Fetch>d__3", {{"<>1__state"}});
  const std::uint64_t box = heap.object(heap.type(kBox, {{"StateMachine", machine}}));
  EXPECT_EQ(name(box), "Hangs.P.Fetch()");
  EXPECT_EQ(name(heap.set(callback, {"_target"}, box)), "Hangs.P.Fetch()");
}

TEST_F(WorkItemsOf, ADelegateIsNamedByItsCode) {
  const std::uint64_t item = heap.object(heap.type("System.Threading.QueueUserWorkItemCallback", {{"_callback"}}));
  heap.set(item, {"_callback"}, heap.set(callback, {"_methodPtr"}, kCode));
  EXPECT_EQ(name(item), "System.Threading.QueueUserWorkItemCallback");
  clr.add_code({.method = kMethod, .start = kCode, .hot_bytes = 16});
  EXPECT_EQ(name(item), "Hangs.P.Send()");
}

TEST_F(WorkItemsOf, ATaskOfTheDumpIsNamedAsThere) {
  const std::uint64_t task = heap.object(heap.type("System.Threading.Tasks.Task", {{"m_action"}}));
  snapshot.tasks = {{.address = 1}, {.address = task, .method = "Hangs.P.Send()"}};
  WorkItems items(paths, snapshot);
  EXPECT_EQ(items.of(task).method, "Hangs.P.Send()");
  EXPECT_EQ(items.of(task).task, 1u);
}

TEST_F(WorkItemsOf, WhatLeadsToItselfIsNamedByItsType) {
  const std::uint64_t item = heap.object(heap.type("A", {{"m_action"}}));
  EXPECT_EQ(name(heap.set(item, {"m_action"}, item)), "A");
  EXPECT_EQ(name(heap.set(callback, {"_target"}, callback)), "System.Threading.WaitCallback");
  EXPECT_EQ(name(0x1234), "");
}

}  // namespace
}  // namespace mixwalk
