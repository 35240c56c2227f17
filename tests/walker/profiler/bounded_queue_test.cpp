#include "walker/profiler/bounded_queue.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace mixwalk {
namespace {

TEST(BoundedQueue, GivesBackWhatCameInItsOrderAndRefusesWhenItIsFull) {
  BoundedQueue<std::unique_ptr<int>, 4> queue;
  std::unique_ptr<int> value;
  EXPECT_FALSE(queue.pop(value));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) {
      EXPECT_FALSE(queue.full());
      value = std::make_unique<int>(i);
      ASSERT_TRUE(queue.push(value));
    }
    EXPECT_TRUE(queue.full());
    auto refused = std::make_unique<int>(9);
    EXPECT_FALSE(queue.push(refused));
    EXPECT_NE(refused, nullptr) << "it was taken all the same";
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(queue.pop(value));
      EXPECT_EQ(*value, i);
    }
    EXPECT_FALSE(queue.pop(value));
  }
}

// Every value must come out once, those of one thread in order, while the queue is full again and again.
TEST(BoundedQueue, LosesNothingOfManyThreads) {
  constexpr int kThreads = 4, kEach = 50'000;
  using Value = std::unique_ptr<std::pair<int, int>>;
  BoundedQueue<Value, 8> queue;
  std::vector<std::thread> writers;
  for (int thread = 0; thread < kThreads; ++thread) {
    writers.emplace_back([&queue, thread] {
      for (int i = 0; i < kEach; ++i) {
        Value value = std::make_unique<std::pair<int, int>>(thread, i);
        while (!queue.push(value)) std::this_thread::yield();
      }
    });
  }
  std::vector<int> next(kThreads, 0);
  for (int taken = 0; taken < kThreads * kEach;) {
    Value value;
    if (!queue.pop(value)) {
      std::this_thread::yield();
      continue;
    }
    ++taken;
    ASSERT_EQ(value->second, next[static_cast<std::size_t>(value->first)]++);
  }
  for (std::thread& writer : writers) writer.join();
  Value none;
  EXPECT_FALSE(queue.pop(none));
}

}  // namespace
}  // namespace mixwalk
