#include "walker/locks/native_waits.h"

#include <gtest/gtest.h>

#include "tests/builders/paged_memory.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kSection = 0x2'1000'0040, kDebug = 0x2'2000'0000;
constexpr std::uint32_t kWaiter = 0x30, kOwner = 0x20;
const std::vector<std::uint32_t> kThreads{0x10, kOwner, kWaiter};

void put_section(test::PagedMemory& memory, std::uint64_t at, std::int32_t lock_count, std::int32_t recursion,
                 std::uint64_t owner, std::uint64_t debug) {
  memory.put(at, debug);
  memory.put(at + 8, lock_count);
  memory.put(at + 12, recursion);
  memory.put(at + 16, owner);
  memory.put(at + 24, std::uint64_t{0});
  memory.put(at + 32, std::uint64_t{0});
}

void put_debug(test::PagedMemory& memory, std::uint64_t at, std::uint64_t section, std::uint16_t type = 0) {
  memory.put(at, std::uint64_t{type});
  memory.put(at + 8, section);
}

std::optional<Lock> look(const test::PagedMemory& memory, std::vector<std::uint64_t> words) {
  words.insert(words.begin(), {0, 1, ~0ull, 0x1234'5678});
  return awaited_section(memory, words, kWaiter, kThreads);
}

Lock held(std::uint32_t recursion) {
  return {.kind = LockKind::critical_section, .address = kSection, .owner = kOwner, .held = true,
          .recursion = recursion};
}

TEST(AwaitedSection, AsWineKeepsIt) {
  test::PagedMemory memory;
  put_section(memory, kSection, 2, 2, kOwner, kDebug);
  put_debug(memory, kDebug, kSection);
  EXPECT_EQ(look(memory, {kSection}), held(2));
  EXPECT_EQ(look(memory, {kSection + 8, kSection}), held(2));  // the addresses of its fields are also on the stack
  EXPECT_EQ(look(memory, {kSection + 0x18}), held(2));
  put_debug(memory, kDebug, kSection + 8);  // the debug record belongs to another section
  EXPECT_EQ(look(memory, {kSection}), std::nullopt);
  put_debug(memory, kDebug, kSection, 1);  // RTL_RESOURCE_TYPE
  EXPECT_EQ(look(memory, {kSection}), std::nullopt);
}

TEST(AwaitedSection, AsWindowsKeepsIt) {
  test::PagedMemory memory;
  put_section(memory, kSection, -6, 1, kOwner, ~0ull);
  EXPECT_EQ(look(memory, {kSection}), held(1));
  put_section(memory, kSection, -2, 1, kOwner, ~0ull);  // no thread waits
  EXPECT_EQ(look(memory, {kSection}), std::nullopt);
  put_section(memory, kSection, -5, 1, kOwner, ~0ull);  // not held
  EXPECT_EQ(look(memory, {kSection}), std::nullopt);
}

TEST(AwaitedSection, WhoseOwnerHasEnded) {
  test::PagedMemory memory;
  put_section(memory, kSection, 1, 1, 0x40, kDebug);
  put_debug(memory, kDebug, kSection);
  Lock abandoned = held(1);
  abandoned.owner = 0;
  EXPECT_EQ(look(memory, {kSection}), abandoned);
  put_section(memory, kSection, 1, 1, 0, kDebug);  // no thread holds it
  EXPECT_EQ(look(memory, {kSection}), std::nullopt);
}

// RtlWaitOnAddress of Wine: each waiting thread has an entry on its stack, with the addresses of the next and the
// previous entry, the address that the thread waits for, and the thread's id. The list begins in ntdll.
TEST(AwaitedSection, NeighboursInAList) {
  constexpr std::uint64_t kHead = 0x1'7008'7b18, kNeighbour = 0x2230'f750, kOwn = 0x2239'f750, kAwaited = 0x57'0058;
  test::PagedMemory memory;
  put_section(memory, kSection, 2, 2, kOwner, kDebug);
  put_debug(memory, kDebug, kSection);
  const auto put_entry = [&](std::uint64_t at, std::uint64_t next, std::uint64_t previous, std::uint64_t address) {
    memory.put(at, next);
    memory.put(at + 8, previous);
    memory.put(at + 16, address);
    memory.put(at + 24, std::uint64_t{0x40});
    memory.put(at + 32, std::uint64_t{0});
  };
  put_entry(kHead, kNeighbour, kOwn, 0);
  put_entry(kNeighbour, kOwn, kHead, kAwaited);
  put_entry(kOwn, kHead, kNeighbour, kSection + 0x18);
  EXPECT_EQ(look(memory, {kHead, kNeighbour, kSection + 0x18, kSection}), held(2));
}

TEST(AgreedLocks, AreThoseThatDoNotChangeHands) {
  Lock steady = held(1), first = held(1), second = held(1);
  first.address = second.address = kSection + 0x100;
  second.owner = kWaiter;
  EXPECT_TRUE(consistent_locks({}).empty());
  const std::vector<Lock> locks =
      consistent_locks(std::vector<LockReading>{{first, 3}, {steady, 8}, {second, 4}, {steady, 5}, {first, 6}});
  steady.waiters = {{5, false}, {8, false}};
  EXPECT_EQ(locks, std::vector<Lock>{steady});
}

TEST(AwaitedSection, WhatIsNone) {
  test::PagedMemory memory;
  put_section(memory, kSection, 0, 1, kOwner, ~0ull);  // no thread waits
  EXPECT_EQ(look(memory, {kSection}), std::nullopt);
  put_section(memory, kSection, 1, 0, kOwner, ~0ull);  // no thread has entered it
  EXPECT_EQ(look(memory, {kSection}), std::nullopt);
  put_section(memory, kSection, 1, 1, 0x40, ~0ull);  // the owner is not a thread of the process
  EXPECT_EQ(look(memory, {kSection}), std::nullopt);
  put_section(memory, kSection, 1, 1, kWaiter, ~0ull);  // the owner is the waiter itself
  EXPECT_EQ(look(memory, {kSection}), std::nullopt);
  put_section(memory, kSection, 1, 1, 0x1'0000'0000 + kOwner, ~0ull);
  EXPECT_EQ(look(memory, {kSection}), std::nullopt);
  put_section(memory, kSection, 0x7008'7b18, 1, kOwner, ~0ull);  // so many threads do not wait
  EXPECT_EQ(look(memory, {kSection}), std::nullopt);
  put_section(memory, kSection, 1, 1, kOwner, ~0ull);
  EXPECT_EQ(look(memory, {kSection}), held(1));
  put_section(memory, kSection + 0x100, 1, 1, kOwner, ~0ull);  // two sections are possible
  EXPECT_EQ(look(memory, {kSection, kSection + 0x100}), std::nullopt);
  EXPECT_EQ(look(memory, {}), std::nullopt);
}

TEST(AwaitedSrwLock, AsWindowsKeepsIt) {
  test::PagedMemory memory;
  const std::vector<StackLimits> stacks{{0x1'0000, 0x2'0000}};
  constexpr std::uint64_t kLock = 0x2'1000'0008;
  memory.put(kLock, std::uint64_t{0x1'8003});
  EXPECT_EQ(awaited_srw_lock(memory, std::vector<std::uint64_t>{1, kLock}, stacks),
            (Lock{.kind = LockKind::srw_lock, .address = kLock, .held = true}));
  for (const std::uint64_t value : {0x1'8001ull, 0x1'8002ull, 0x3'8003ull, 3ull, 0ull}) {
    memory.put(kLock, std::uint64_t{value});
    EXPECT_EQ(awaited_srw_lock(memory, std::vector<std::uint64_t>{1, kLock}, stacks), std::nullopt) << value;
  }
}

Snapshot standing_in(const std::string& function, const std::string& image = "C:\\windows\\system32\\ntdll.dll") {
  Snapshot snapshot;
  snapshot.modules = {{0x1000, 0x1000, 0, image}};
  snapshot.threads.push_back({.os_id = kWaiter});
  for (const std::string& name : {std::string("NtWaitForAlertByThreadId"), function, std::string("caller")}) {
    StackFrame frame({.module = 0, .name = name}, 0x1'0000 + snapshot.threads[0].stack.frames.size() * 0x100);
    snapshot.threads[0].stack.frames.push_back(frame);
  }
  return snapshot;
}

constexpr std::uint64_t kFirstTeb = 0x3'0000'0000, kTebBytes = 0x2000;

std::vector<TargetThread> threads_with_tebs() {
  std::vector<TargetThread> threads;
  for (const std::uint32_t id : kThreads) threads.push_back({.os_id = id, .teb = kFirstTeb + id * kTebBytes});
  return threads;
}

void put_flags(test::PagedMemory& memory, std::uint32_t thread, std::uint16_t flags) {
  memory.put(kFirstTeb + thread * kTebBytes + 0x17EE, flags);
}

std::optional<Lock> loader_lock_of(const test::PagedMemory& memory) {
  return held_loader_lock(memory, kSection, kWaiter, threads_with_tebs());
}

Lock loader_lock_held(std::uint32_t recursion) {
  Lock lock = held(recursion);
  lock.type = kLoaderLock;
  return lock;
}

// On Windows, nobody waits for the section itself.
TEST(HeldLoaderLock, ByItsOwnOwner) {
  test::PagedMemory memory;
  EXPECT_EQ(loader_lock_of(memory), std::nullopt);
  put_section(memory, kSection, -2, 1, kOwner, ~0ull);
  EXPECT_EQ(loader_lock_of(memory), loader_lock_held(1));
  put_flags(memory, 0x10, 0x1000);  // the lock itself says more
  EXPECT_EQ(loader_lock_of(memory), loader_lock_held(1));
  EXPECT_EQ(held_loader_lock(memory, 0, kWaiter, threads_with_tebs()), std::nullopt);
}

TEST(HeldLoaderLock, ByTheOnlyThreadThatLoads) {
  test::PagedMemory memory;
  put_section(memory, kSection, -1, 0, 0, ~0ull);
  put_flags(memory, 0x10, 0x0400);
  put_flags(memory, kWaiter, 0);
  EXPECT_EQ(loader_lock_of(memory), std::nullopt);
  put_flags(memory, kOwner, 0x1000);
  EXPECT_EQ(loader_lock_of(memory), loader_lock_held(0));
  put_section(memory, kSection, -2, 1, kWaiter, ~0ull);  // of its own lock, the waiter is not told
  EXPECT_EQ(loader_lock_of(memory), loader_lock_held(0));
  put_section(memory, kSection, -2, 1, 0x999, ~0ull);  // no such thread
  EXPECT_EQ(loader_lock_of(memory), loader_lock_held(0));
  put_flags(memory, 0x10, 0x1000);  // two owners: one of the reads was of another moment
  EXPECT_EQ(loader_lock_of(memory), std::nullopt);
}

TEST(HeldLoaderLock, NotByTheWaiter) {
  test::PagedMemory memory;
  put_section(memory, kSection, -1, 0, 0, ~0ull);
  put_flags(memory, kWaiter, 0x1000);
  EXPECT_EQ(loader_lock_of(memory), std::nullopt);
}

TEST(NativeWait, OfTheLoader) {
  for (const char* const function : {"LdrpDrainWorkQueue", "LdrLoadDll", "LdrInitializeThunk", "_LdrpInitialize"}) {
    Snapshot snapshot = standing_in(function);
    const auto wait = native_wait_of(snapshot, snapshot.threads[0]);
    ASSERT_TRUE(wait) << function;
    EXPECT_TRUE(wait->loader);
    snapshot.threads[0].stack.frames[0].name = "NtCreateFile";  // the loader opens a file
    EXPECT_FALSE(native_wait_of(snapshot, snapshot.threads[0]));
  }
  // The section is on the stack of a thread that waits for it, whoever has called it.
  Snapshot snapshot = standing_in("RtlEnterCriticalSection");
  snapshot.threads[0].stack.frames[2].name = "LdrLoadDll";
  EXPECT_FALSE(native_wait_of(snapshot, snapshot.threads[0])->loader);
}

TEST(NativeWait, ByTheNamesOfItsFrames) {
  Snapshot snapshot = standing_in("RtlEnterCriticalSection");
  auto wait = native_wait_of(snapshot, snapshot.threads[0]);
  ASSERT_TRUE(wait);
  EXPECT_EQ(wait->kind, LockKind::critical_section);
  EXPECT_EQ(wait->end, 0x1'0200u + 0x28);
  snapshot = standing_in("RtlAcquireSRWLockShared");
  wait = native_wait_of(snapshot, snapshot.threads[0]);
  ASSERT_TRUE(wait);
  EXPECT_EQ(wait->kind, LockKind::srw_lock);
  for (const char* const function : {"RtlAcquireSRWLockShared [tail call]", "AcquireSRWLockExclusive [tail call]"}) {
    snapshot = standing_in(function);
    wait = native_wait_of(snapshot, snapshot.threads[0]);
    ASSERT_TRUE(wait) << function;
    EXPECT_EQ(wait->kind, LockKind::srw_lock);
  }
  snapshot = standing_in("RtlSleepConditionVariableCS");
  EXPECT_FALSE(native_wait_of(snapshot, snapshot.threads[0]));
  snapshot = standing_in("RtlEnterCriticalSection", "C:\\orders\\orders.dll");
  EXPECT_FALSE(native_wait_of(snapshot, snapshot.threads[0]));
  EXPECT_FALSE(has_native_waits(snapshot));
}

}  // namespace
}  // namespace mixwalk
