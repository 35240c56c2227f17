#include "walker/clr/thread_objects.h"

#include <gtest/gtest.h>

#include "tests/builders/fake_clr_questions.h"
#include "tests/builders/paged_memory.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kThread = 0x2'2000'0000, kOther = 0x2'3000'0000, kHandle = 0x3'0000'0000;
constexpr std::uint64_t kObject = 0x4'0000'1000, kTable = 0x7'0000'0000, kString = 0x7'0000'1000;

TEST(ThreadObjects, ByTheFieldThatLeadsBack) {
  test::PagedMemory memory;
  test::FakeClrQuestions clr;
  clr.types_of[kTable] = {.name = "System.Threading.Thread", .fields = {{"_DONT_USE_InternalThread", 48, 0x18, 0}}};
  clr.types_of[kString] = {.name = "System.String"};
  // The first handle is of a string, the second of the Thread of another thread.
  memory.put(kThread + 0x20, kHandle);
  memory.put(kThread + 0x28, kHandle + 8);
  memory.put(kThread + 0x1B8, kHandle + 16);
  memory.put(kHandle, kObject);
  memory.put(kHandle + 8, kObject + 0x100);
  memory.put(kHandle + 16, kObject + 0x200);
  memory.put(kObject, kString);
  for (const std::uint64_t thread : {kObject + 0x100, kObject + 0x200}) memory.put(thread, kTable);
  memory.put(kObject + 0x130, kOther);
  memory.put(kObject + 0x230, kThread);
  ThreadObjects objects;
  EXPECT_EQ(objects.object_of(kThread, memory, clr), kObject + 0x200);
  // The same offset is used for all threads.
  memory.put(kOther + 0x1B8, kHandle + 8);
  EXPECT_EQ(objects.object_of(kOther, memory, clr), kObject + 0x100);
  memory.put(kObject + 0x130, std::uint64_t{0});
  EXPECT_EQ(objects.object_of(kOther, memory, clr), 0u);
}

TEST(ThreadObjects, NothingWithoutMemory) {
  const test::PagedMemory memory;
  test::FakeClrQuestions clr;
  ThreadObjects objects;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(objects.object_of(kThread, memory, clr), 0u);
}

}  // namespace
}  // namespace mixwalk
