#include <gtest/gtest.h>
#include <windows.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

namespace mixwalk {
namespace {

// Two threads each write a word of their own and then read the other's, as a thread of .NET and a GC that begins do
// (tests/tools/wine_mends.c). One of them calls FlushProcessWriteBuffers in between, so at least one sees the other's
// write. The other one has no barrier, and has written to memory that is not in the processor's cache, so its word is
// written late.
TEST(WriteBuffers, AreFlushedByTheSystem) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "not run: this machine has one processor";
  constexpr int kRounds = 20'000;
  constexpr std::chrono::seconds kTime{20};  // on a busy machine, each round may take a turn of a processor
  constexpr std::size_t kBytes = 64 << 20, kStride = 3 * 4096 + 64;
  constexpr int kColdWrites = 40;
  std::vector<char> cold(kBytes);
  alignas(64) std::atomic<int> asked = 0;
  alignas(64) std::atomic<int> answered = 0;
  alignas(64) std::atomic<bool> first = false;
  alignas(64) std::atomic<bool> second = false;
  alignas(64) bool first_saw = false;
  std::atomic<bool> over = false;

  std::thread peer([&] {
    volatile char* const memory = cold.data();
    for (int round = 1; round <= kRounds; ++round) {
      while (asked != round) {
        if (over) return;
      }
      for (int i = 0; i < kColdWrites; ++i) {
        memory[(static_cast<std::size_t>(round) * kColdWrites + i) * kStride % kBytes] = 1;
      }
      first.store(true, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);
      first_saw = second.load(std::memory_order_relaxed);
      answered = round;
    }
  });
  int impossible = 0, before = 0, after = 0;
  int rounds = 0;
  const auto end = std::chrono::steady_clock::now() + kTime;
  while (rounds < kRounds && std::chrono::steady_clock::now() < end) {
    const int round = ++rounds;
    first = second = false;
    asked = round;
    // The two writes meet in many ways.
    for (volatile int wait = static_cast<int>(round * 7919LL % 4000); wait > 0; wait = wait - 1) {
    }
    second.store(true, std::memory_order_relaxed);
    FlushProcessWriteBuffers();
    const bool second_saw = first.load(std::memory_order_relaxed);
    while (answered != round) {
    }
    impossible += !first_saw && !second_saw;
    before += first_saw;
    after += second_saw;
  }
  over = true;
  peer.join();
  EXPECT_EQ(impossible, 0) << before << " and " << after << " of " << rounds << " reads saw the other's write";
}

}  // namespace
}  // namespace mixwalk
