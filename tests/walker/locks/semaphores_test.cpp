#include "walker/locks/semaphores.h"

#include <gtest/gtest.h>

#include "tests/walker/locks/il_code.h"
#include "tests/walker/locks/standing_program.h"

namespace mixwalk {
namespace {

TEST(SemaphoresOfTasks, AreLocksWithoutOwner) {
  test::FakeClrQuestions clr;
  clr.locks_of[0x1000] = {.held = true, .semaphore = true};
  clr.locks_of[0x2000] = {.held = true, .semaphore = true};
  clr.locks_of[0x3000] = {.held = true};
  clr.locks_of[0x4000] = {.held = false, .semaphore = true};
  const std::string type = "System.Threading.SemaphoreSlim";
  Snapshot snapshot;
  const Lock known{.kind = LockKind::semaphore, .address = 0x1000, .type = type, .held = true, .waiters = {{7}}};
  const Lock native{.kind = LockKind::critical_section, .address = 0x9000};
  snapshot.locks = {known, native};
  for (const std::uint64_t object : {0x1000u, 0x2000u, 0x2000u, 0x3000u, 0x4000u, 0x5000u}) {
    snapshot.tasks.push_back({.object = object, .object_type = type});
  }
  snapshot.tasks.push_back({.object = 0x6000, .object_type = "System.Threading.Channels.Channel"});
  add_semaphores_of_tasks(snapshot, clr);
  const Lock entered{.kind = LockKind::semaphore, .address = 0x2000, .type = type, .held = true};
  const Lock free{.kind = LockKind::semaphore, .address = 0x4000, .type = type};
  EXPECT_EQ(snapshot.locks, (std::vector<Lock>{native, known, entered, free}));
}

// Thread 0x10 and the task of an async method have entered one semaphore each, and wait for the other's.
class SemaphoreHolders : public testing::Test, protected test::StandingProgram {
 protected:
  using Kind = ClrIlStep::Kind;
  static constexpr std::uint64_t kMethod = 0x2'5000'0000;

  std::uint64_t semaphore(std::uint64_t most) {
    const std::uint64_t at = heap.object(semaphore_type);
    snapshot.locks.push_back({.kind = LockKind::semaphore, .address = at, .type = "System.Threading.SemaphoreSlim",
                              .held = true});
    return heap.set(at, {"m_maxCount"}, most);
  }
  // A task that waits in `await to.Open.WaitAsync()`, behind `await from.Open.WaitAsync()`.
  void add_task(std::uint64_t from, std::uint64_t to, std::int64_t first_count = 1) {
    const std::uint64_t account = heap.type("Account", {{"Open"}});
    const std::uint64_t machine = heap.value_type("P+<Transfer>d__1", {{"<>1__state"}, {"from"}, {"to"}});
    const std::uint64_t box = heap.object(heap.type("Box", {{"StateMachine", machine}}));
    heap.set(box, {"StateMachine", "from"}, heap.set(heap.object(account), {"Open"}, from));
    heap.set(box, {"StateMachine", "to"}, heap.set(heap.object(account), {"Open"}, to));
    test::Code code;
    code.argument(0).field("<>1__state").step(Kind::branch, 90);
    code.argument(0).field("from").field("Open").call(test::kWaitAsyncCall).await(0);
    code.argument(0).field("to").field("Open").call(test::kWaitAsyncCall).await(1);
    code.argument(0).field("to").field("Open").call(test::kReleaseCall);
    code.argument(0).field("from").field("Open").call(test::kReleaseCall);
    clr.il_of_methods[{machine, "MoveNext"}] = code.il;
    test::Code constructor;
    constructor.argument(0).step(Kind::constant, first_count).call("System.Threading.SemaphoreSlim..ctor", 1);
    clr.il_of_methods[{account, ".ctor"}] = constructor.step(Kind::store_field, 1, "Open").il;
    snapshot.tasks.push_back({.address = box, .kind = TaskKind::async_method, .await_number = 1});
  }
  // A thread that waits in second.Wait(), behind first.Wait().
  void add_waiting_thread(std::uint64_t first, std::uint64_t second) {
    add_thread(0x10, {"System.Threading.SemaphoreSlim.Wait()", "P.TakeBoth()", "P.Main()"}, {0, first, second, first});
    StackFrame& frame = snapshot.threads.back().stack.frames[1];
    frame.function = kMethod;
    test::Code code;
    code.argument(0).call(test::kWaitCall).argument(1).call(test::kWaitCall);
    clr.il_of_methods[{kMethod, ""}] =
        code.argument(1).call(test::kReleaseCall).argument(0).call(test::kReleaseCall).il;
    clr.places[frame.address] = {{0, 0x0600'0001, 20}, kMethod};
    for (Lock& lock : snapshot.locks) {
      if (lock.address == second) lock.waiters = {{0x10}};
    }
  }
  void find() { add_semaphore_holders(snapshot, target, clr); }
  using Ids = std::vector<std::uint32_t>;

  std::uint64_t semaphore_type =
      heap.type("System.Threading.SemaphoreSlim", {{"m_currentCount"}, {"m_maxCount"}});
};

TEST_F(SemaphoreHolders, AreProvenByTheCode) {
  const std::uint64_t a = semaphore(1), b = semaphore(0x7FFF'FFFF);
  add_task(b, a);
  add_waiting_thread(a, b);
  find();
  EXPECT_EQ(snapshot.locks[0].sharers, Ids{0x10});
  EXPECT_EQ(snapshot.locks[0].recursion, 1u);
  EXPECT_EQ(snapshot.locks[1].task_holders, Ids{0});
  EXPECT_EQ(snapshot.locks[1].recursion, 1u);  // by the constructor
}

// P.Main() gives its static field to P.TakeBoth(), whose argument is the semaphore.
TEST_F(SemaphoreHolders, OfAnArgumentThatIsAStaticFieldOfTheCaller) {
  constexpr std::uint64_t kMain = 0x2'5000'1000;
  const std::uint64_t a = semaphore(0x7FFF'FFFF), b = semaphore(1);
  add_waiting_thread(a, b);
  find();
  EXPECT_EQ(snapshot.locks[0].sharers, Ids{0x10});
  EXPECT_EQ(snapshot.locks[0].recursion, 0u);  // it is not known how many can enter it
  snapshot.locks[0].sharers.clear();
  snapshot.threads.back().stack.frames[2].function = kMain;
  test::Code main;
  main.step(Kind::load_static, 0, "P.First").step(Kind::load_static, 0, "P.Second");
  clr.il_of_methods[{kMain, ""}] = main.call("P.TakeBoth", 2).il;
  test::Code constructor;
  constructor.step(Kind::constant, 1).call("System.Threading.SemaphoreSlim..ctor", 1);
  clr.il_of_methods[{kMain, ".cctor"}] = constructor.step(Kind::store_static, 1, "P.First").il;
  find();
  EXPECT_EQ(snapshot.locks[0].sharers, Ids{0x10});
  EXPECT_EQ(snapshot.locks[0].recursion, 1u);
}

TEST_F(SemaphoreHolders, OfAnObjectWhoseConstructorHasMadeIt) {
  const std::uint64_t a = semaphore(0x7FFF'FFFF), b = semaphore(1);
  add_waiting_thread(a, b);
  const std::uint64_t type = heap.type("Account", {{"Name"}, {"Open"}});
  const std::uint64_t account = heap.set(heap.object(type), {"Open"}, a);
  heap.put(test::StandingTarget::kStack + 0x10 * 0x1'0000 + 0x300, account);
  test::Code constructor;
  constructor.argument(0).step(Kind::constant, 1).call("System.Threading.SemaphoreSlim..ctor", 1);
  constructor.step(Kind::store_field, 0, "Open");
  clr.il_of_methods[{type, ".ctor"}] = constructor.il;
  find();
  EXPECT_EQ(snapshot.locks[0].recursion, 0u);  // other code may set the field as well
  constructor.il.back().number = 1;
  clr.il_of_methods[{type, ".ctor"}] = constructor.il;
  find();
  EXPECT_EQ(snapshot.locks[0].recursion, 1u);
}

TEST_F(SemaphoreHolders, OfASignalAreNotAll) {
  const std::uint64_t a = semaphore(1), b = semaphore(1);
  add_task(b, a, 0);
  find();
  EXPECT_EQ(snapshot.locks[1].task_holders, Ids{0});
  EXPECT_FALSE(snapshot.locks[1].has_all_holders());
}

TEST_F(SemaphoreHolders, OfOneThatMayBeAnotherAreUnknown) {
  const std::uint64_t a = semaphore(1), b = semaphore(1), other = semaphore(1);
  add_waiting_thread(a, b);
  heap.put(test::StandingTarget::kStack + 0x10 * 0x1'0000, other);
  find();
  EXPECT_EQ(snapshot.locks[0].sharers, Ids{});
  heap.set(other, {"m_currentCount"}, 1);  // the thread may have entered one with free places as well
  find();
  EXPECT_EQ(snapshot.locks[0].sharers, Ids{});
}

// A thread that has entered a semaphore of an object, and waits for it once more in a method that it calls.
class SemaphoreEnteredTwice : public SemaphoreHolders {
 protected:
  static constexpr std::uint64_t kInner = 0x2'5000'2000;

  void add_thread_that_waits(std::uint64_t a, const std::vector<std::uint64_t>& words) {
    add_thread(0x10, {"System.Threading.SemaphoreSlim.Wait()", "P.Inner()", "P.Outer()", "P.Main()"}, words);
    std::vector<StackFrame>& frames = snapshot.threads.back().stack.frames;
    for (const std::size_t i : {1u, 2u}) {
      frames[i].address += i;
      frames[i].function = i == 1 ? kInner : kMethod;
      clr.places[frames[i].address] = {{0, 0x0600'0001, i == 1 ? 0u : 30u}, frames[i].function};
    }
    for (Lock& lock : snapshot.locks) {
      if (lock.address == a) lock.waiters = {{0x10}};
    }
    test::Code inner;
    inner.argument(0).field("Open").call(test::kWaitCall).argument(0).field("Open").call(test::kReleaseCall);
    clr.il_of_methods[{kInner, ""}] = inner.il;
    clr.il_of_methods[{kMethod, ""}] = outer("P.Inner").il;
  }
  // `Open.Wait(); called(this); Open.Release();`
  static test::Code outer(const std::string& called) {
    test::Code code;
    code.argument(0).field("Open").call(test::kWaitCall).argument(0).call(called);
    code.il.back().instance = true;
    return code.argument(0).field("Open").call(test::kReleaseCall);
  }
  std::uint64_t account(std::uint64_t semaphore) { return heap.set(heap.object(type), {"Open"}, semaphore); }

  std::uint64_t type = heap.type("Account", {{"Name"}, {"Open"}});
};

TEST_F(SemaphoreEnteredTwice, ByAMethodAndOneThatItCalls) {
  const std::uint64_t a = semaphore(1), its = account(a);
  add_thread_that_waits(a, {0, a, its});
  find();
  EXPECT_EQ(snapshot.locks[0].sharers, Ids{0x10});
  EXPECT_TRUE(snapshot.locks[0].has_all_holders());
}

// P.Inner() waits until a callback, which P.Outer() has caused, releases it.
TEST_F(SemaphoreEnteredTwice, IsNotProvenIfOtherCodeMayReleaseIt) {
  const std::uint64_t a = semaphore(1), its = account(a);
  add_thread_that_waits(a, {0, a, its});
  clr.il_of_methods[{kInner, ""}].resize(3);
  find();
  EXPECT_EQ(snapshot.locks[0].sharers, Ids{});
}

// `Open = other; Open.Wait();`
TEST_F(SemaphoreEnteredTwice, IsAnotherOneIfTheInnerMethodSetsTheField) {
  const std::uint64_t a = semaphore(1), its = account(a);
  add_thread_that_waits(a, {0, a, its});
  test::Code inner;
  inner.step(Kind::store_field, 0, "Open").argument(0).field("Open").call(test::kWaitCall);
  clr.il_of_methods[{kInner, ""}] = inner.argument(0).field("Open").call(test::kReleaseCall).il;
  const StackFrame& frame = snapshot.threads.back().stack.frames[1];
  clr.places[frame.address] = {{0, 0x0600'0001, 30}, kInner};
  find();
  EXPECT_EQ(snapshot.locks[0].sharers, Ids{});
}

TEST_F(SemaphoreEnteredTwice, IsNotProvenIfTheCodeDoesNotSayWhichSemaphoreItIs) {
  const std::uint64_t a = semaphore(1), its = account(a);
  add_thread_that_waits(a, {0, a, its});
  // The JIT has made one method of P.Outer() and of P.Other(), which calls P.Inner() with another object.
  test::Code code = outer("P.Other");
  code.argument(0).call("P.Inner");
  code.il.back().instance = true;
  clr.il_of_methods[{kMethod, ""}] = code.il;
  find();
  EXPECT_EQ(snapshot.locks[0].sharers, Ids{});
  // P.Inner() waits for another field of the object.
  clr.il_of_methods[{kMethod, ""}] = outer("P.Inner").il;
  test::Code inner;
  clr.il_of_methods[{kInner, ""}] = inner.argument(0).field("Name").call(test::kWaitCall).il;
  find();
  EXPECT_EQ(snapshot.locks[0].sharers, Ids{});
}

// The one that the method has entered is on the stack as well: the thread waits for that of another object.
TEST_F(SemaphoreEnteredTwice, IsAnotherOneIfTheStackHasOne) {
  const std::uint64_t a = semaphore(1), b = semaphore(1);
  add_thread_that_waits(a, {0, a, account(a), account(b)});
  find();
  EXPECT_EQ(snapshot.locks[0].sharers, Ids{});
  EXPECT_EQ(snapshot.locks[1].sharers, Ids{0x10});
}

TEST_F(SemaphoreHolders, OfAThreadThatWaitsForOneTwiceInOneMethod) {
  const std::uint64_t a = semaphore(1);
  add_waiting_thread(a, a);
  find();
  EXPECT_EQ(snapshot.locks[0].sharers, Ids{});  // two arguments, which the code does not say to be the same
  test::Code code;
  code.argument(0).call(test::kWaitCall).argument(0).call(test::kWaitCall).argument(0).call(test::kReleaseCall);
  clr.il_of_methods[{kMethod, ""}] = code.il;
  find();
  EXPECT_EQ(snapshot.locks[0].sharers, Ids{});  // a callback may release it once
  clr.il_of_methods[{kMethod, ""}] = code.argument(0).call(test::kReleaseCall).il;
  find();
  EXPECT_EQ(snapshot.locks[0].sharers, Ids{0x10});
  EXPECT_TRUE(snapshot.locks[0].has_all_holders());
}

// A static field has it.
TEST_F(SemaphoreHolders, OfAStaticFieldTwiceInOneMethod) {
  const std::uint64_t a = semaphore(1);
  add_waiting_thread(a, a);
  test::Code code;
  const auto add = [&](const char* call) { code.step(Kind::load_static, 0, "P.Gate").call(call); };
  for (const char* const call : {test::kWaitCall, test::kWaitCall, test::kReleaseCall}) add(call);
  clr.il_of_methods[{kMethod, ""}] = code.il;
  find();
  EXPECT_EQ(snapshot.locks[0].sharers, Ids{});
  add(test::kReleaseCall);
  clr.il_of_methods[{kMethod, ""}] = code.il;
  find();
  EXPECT_EQ(snapshot.locks[0].sharers, Ids{0x10});
}

// Its code has the semaphore in one object, and another object with the same one.
TEST_F(SemaphoreHolders, OfATaskThatWaitsForOneTwice) {
  const std::uint64_t a = semaphore(1);
  add_task(a, a);
  snapshot.tasks.push_back({.address = 1, .kind = TaskKind::semaphore, .object = a});
  snapshot.tasks[0].awaits = {1};
  find();
  EXPECT_EQ(snapshot.locks[0].task_holders, Ids{});
  for (auto& [of, steps] : clr.il_of_methods) {
    if (of.second != "MoveNext") continue;
    for (ClrIlStep& step : steps) {
      if (step.kind == Kind::load_field && step.name == "to") step.name = "from";
    }
  }
  find();
  EXPECT_EQ(snapshot.locks[0].task_holders, Ids{0});
}

TEST_F(SemaphoreHolders, AtAnotherAwaitHaveEnteredNone) {
  const std::uint64_t a = semaphore(1), b = semaphore(1);
  add_task(b, a);
  snapshot.tasks[0].await_number = 0;
  find();
  EXPECT_EQ(snapshot.locks[1].task_holders, Ids{});
  EXPECT_EQ(snapshot.locks[1].recursion, 0u);
}

}  // namespace
}  // namespace mixwalk
