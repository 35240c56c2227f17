#include "unmanaged/step/stack_copy.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/builders/own_memory.h"

namespace mixwalk {
namespace {

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

TEST(StackCopy, ReadsByTheTargetsAddresses) {
  alignas(16) std::array<std::uint64_t, 4> stack{1, 2, 3, 4};
  std::array<std::byte, 256> buffer;
  StackCopy copy(buffer);
  copy.fill(test::OwnMemory(), address_of(&stack[1]), address_of(stack.data() + 4));
  stack[2] = 99;  // the copy must not change with the stack
  EXPECT_EQ(copy.read_value<std::uint64_t>(address_of(&stack[2])), 3u);
  EXPECT_FALSE(copy.read_value<std::uint64_t>(address_of(&stack[0])));
  EXPECT_FALSE(copy.read_value<std::uint64_t>(address_of(stack.data() + 4)));
  EXPECT_FALSE(copy.read_value<std::uint64_t>(address_of(stack.data() + 4) - 4));
  EXPECT_FALSE(copy.cut());
}

TEST(StackCopy, LargerThanTheBufferLosesItsRootEnd) {
  alignas(16) std::array<std::uint64_t, 64> stack{};
  stack[0] = 7;
  std::array<std::byte, 128> buffer;
  StackCopy copy(buffer);
  copy.fill(test::OwnMemory(), address_of(stack.data()), address_of(stack.data() + 64));
  EXPECT_TRUE(copy.cut());
  EXPECT_LE(copy.end() - copy.begin(), 128u);
  EXPECT_EQ(copy.read_value<std::uint64_t>(address_of(&stack[0])), 7u);
}

TEST(StackCopy, MissingPageCutsItThere) {
  constexpr std::size_t kPage = 4096;
  std::vector<std::byte> stack(4 * kPage);
  std::vector<std::byte> buffer(8 * kPage);
  const std::uint64_t begin = address_of(stack.data()) + 40;
  const std::uint64_t missing = (begin / kPage + 2) * kPage;  // the third page of the stack
  StackCopy copy(buffer);
  copy.fill(test::OwnMemory(missing), begin, address_of(stack.data() + stack.size()));
  EXPECT_TRUE(copy.cut());
  EXPECT_EQ(copy.begin(), begin);
  EXPECT_EQ(copy.end(), missing);
}

// The reader itself stops earlier.
TEST(StackCopy, ShorterReadCutsItThere) {
  class Short final : public MemoryReader {
   public:
    bool read(std::uint64_t, void*, std::size_t) const noexcept override { return false; }
    std::size_t read_up_to(std::uint64_t, void*, std::size_t) const noexcept override { return 24; }
  };
  std::array<std::byte, 64> stack{};
  std::array<std::byte, 256> buffer;
  StackCopy copy(buffer);
  const std::uint64_t begin = address_of(stack.data());
  copy.fill(Short(), begin, begin + stack.size());
  EXPECT_TRUE(copy.cut());
  EXPECT_EQ(copy.end(), begin + 24);
}

TEST(StackCopy, NothingReadableIsNothingCopied) {
  std::array<std::byte, 64> stack{};
  std::array<std::byte, 256> buffer;
  StackCopy copy(buffer);
  copy.fill(test::OwnMemory(address_of(stack.data())), address_of(stack.data()),
            address_of(stack.data() + stack.size()));
  EXPECT_TRUE(copy.cut());
  EXPECT_EQ(copy.end(), copy.begin());
}

TEST(StackCopy, PointersIntoTheStackAreMovedOntoTheCopyAndBack) {
  alignas(16) std::array<std::uint64_t, 4> stack{};
  stack[0] = address_of(&stack[3]);         // a saved frame pointer
  stack[1] = address_of(stack.data()) - 8;  // below the stack, so it must stay unchanged
  stack[2] = address_of(stack.data() + 4);  // the base itself
  std::array<std::byte, 256> buffer;
  StackCopy copy(buffer);
  copy.fill(test::OwnMemory(), address_of(stack.data()), address_of(stack.data() + 4));
  copy.rewrite_pointers();

  Registers target;
  target[Register::rsp] = address_of(&stack[0]);
  target[Register::rbx] = 42;
  const Registers moved = copy.to_copy(target);
  EXPECT_GE(moved.rsp(), address_of(buffer.data()));
  EXPECT_LT(moved.rsp(), address_of(buffer.data() + buffer.size()));
  EXPECT_EQ(moved.rsp() % 16, address_of(stack.data()) % 16);
  EXPECT_EQ(moved[Register::rbx], 42u);
  EXPECT_EQ(copy.to_target(moved), target);

  const auto* slots = reinterpret_cast<const std::uint64_t*>(moved.rsp());
  EXPECT_EQ(slots[0], moved.rsp() + 24);
  EXPECT_EQ(slots[1], stack[1]);
  EXPECT_EQ(slots[2], moved.rsp() + 32);
}

}  // namespace
}  // namespace mixwalk
