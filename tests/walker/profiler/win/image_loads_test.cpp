#include "walker/profiler/image_loads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "tests/support/win/child_process.h"
#include "unmanaged/win/unique_handle.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

constexpr const char* kImage = "hunt_turn_a.dll";

// The DLLs that the image needs lie beside it.
void load_and_free(const char* name) {
  const HMODULE image =
      LoadLibraryExW(to_utf16(fixture(name)).c_str(), nullptr, LOAD_WITH_ALTERED_SEARCH_PATH);
  ASSERT_NE(image, nullptr);
  FreeLibrary(image);
}

class ImageLoadsTest : public testing::Test {
 protected:
  // Each load is taken once, and the texts in it must be valid as long as ImageLoads.
  std::unique_ptr<ImageLoads> watch(std::string_view wanted = {}) {
    auto loads = std::make_unique<ImageLoads>(wanted, registry_, *gate_, unloads_, wanted_events_);
    loads->begin();
    return loads;
  }
  static std::wstring take_name(ImageLoads& loads) {
    const ImageLoad* const load = loads.front();
    if (load == nullptr) return L"(none)";
    std::wstring name(loads.name(*load));
    loads.pop();
    return name;
  }

  ThreadRegistry registry_;
  std::unique_ptr<UnloadGate> gate_ = std::make_unique<UnloadGate>();
  ImageUnloads unloads_;
  std::atomic<std::uint64_t> wanted_events_{0};
};

TEST_F(ImageLoadsTest, TheThreadThatLoadsAsItStands) {
  registry_.assigned(0xC1, GetCurrentThreadId());
  registry_.renamed(0xC1, "orders");
  const auto loads = watch();
  volatile std::uint64_t on_stack = 0x4711'0815'4711'0815;
  load_and_free(kImage);
  const ImageLoad* const load = loads->front();
  ASSERT_NE(load, nullptr);
  EXPECT_EQ(loads->name(*load), L"hunt_turn_a.dll");
  EXPECT_EQ(load->os_id, GetCurrentThreadId());
  EXPECT_EQ(load->thread.clr_id, 0xC1u);
  EXPECT_EQ(std::string(load->thread.name.data(), load->thread.name_bytes), "orders");
  const auto stack = loads->stack(*load);
  const auto at = reinterpret_cast<std::uint64_t>(&on_stack) - load->registers.rsp();
  ASSERT_LT(at, stack.size());
  EXPECT_EQ(load->registers.rsp() + stack.size(), load->stack_end);
  std::uint64_t copied = 0;
  std::memcpy(&copied, stack.data() + at, sizeof copied);
  EXPECT_EQ(copied, on_stack);
  EXPECT_EQ(loads->front(), load) << "until pop()";
  loads->pop();
  EXPECT_EQ(loads->front(), nullptr);
  EXPECT_EQ(wanted_events_, 1u);
}

TEST_F(ImageLoadsTest, WithAllThatItNeedsInTheOrderOfTheLoader) {
  const auto loads = watch();
  load_and_free("foreign_threads.dll");
  EXPECT_EQ(take_name(*loads), L"hunt_slow_end.dll");
  EXPECT_EQ(take_name(*loads), L"foreign_threads.dll");
}

TEST_F(ImageLoadsTest, OnlyTheOneThatIsWanted) {
  const auto loads = watch("HUNT_turn_b");
  load_and_free(kImage);
  EXPECT_EQ(take_name(*loads), L"(none)");
  load_and_free("hunt_turn_b.dll");
  EXPECT_EQ(take_name(*loads), L"hunt_turn_b.dll");
  EXPECT_EQ(wanted_events_, 1u);
}

TEST_F(ImageLoadsTest, NoneBeforeTheBeginningOrAfterTheEnd) {
  ImageLoads loads({}, registry_, *gate_, unloads_, wanted_events_);
  load_and_free(kImage);
  loads.begin();
  loads.stop();
  load_and_free(kImage);
  EXPECT_EQ(loads.front(), nullptr);
  EXPECT_EQ(wanted_events_, 0u);
  { watch(); }
  load_and_free(kImage);  // the system must not call the object that is gone
}

// Loads an image below a frame with that many bytes, all of which have the value `mark`.
__attribute__((noinline)) void load_below(std::size_t bytes, char mark) {
  auto* const room = static_cast<volatile char*>(__builtin_alloca(bytes));
  for (std::size_t i = 0; i < bytes; ++i) room[i] = mark;
  load_and_free(kImage);
  ASSERT_EQ(room[bytes / 2], mark);
}

// No thread fetches the stacks. The target must continue, and each load must be counted.
TEST_F(ImageLoadsTest, WhatHasNoRoomIsCountedAsDropped) {
  const auto loads = watch();
  constexpr int kLoads = 40;
  for (int i = 0; i < kLoads; ++i) load_below(500'000, 'x');
  int waiting = 0;
  for (; loads->front() != nullptr; ++waiting) loads->pop();
  EXPECT_GT(waiting, 10);
  EXPECT_GT(loads->dropped(), 10u);
  EXPECT_EQ(static_cast<std::uint64_t>(waiting) + loads->dropped(), std::uint64_t{kLoads});
  EXPECT_EQ(wanted_events_, std::uint64_t{kLoads});
}

// The ring is filled many times, with stacks of any length.
TEST_F(ImageLoadsTest, EachStackIsItsOwn) {
  const auto loads = watch();
  for (int i = 0; i < 300; ++i) {
    const std::size_t bytes = 1'000 + static_cast<std::size_t>(i) * 7'919 % 400'000;
    const char mark = static_cast<char>('a' + i % 26);
    load_below(bytes, mark);
    const ImageLoad* const load = loads->front();
    ASSERT_NE(load, nullptr) << i;
    ASSERT_EQ(loads->name(*load), L"hunt_turn_a.dll");
    std::size_t marks = 0, longest = 0;
    for (const std::byte byte : loads->stack(*load)) {
      marks = byte == static_cast<std::byte>(mark) ? marks + 1 : 0;
      longest = std::max(longest, marks);
    }
    ASSERT_GE(longest, bytes) << i;
    loads->pop();
  }
  EXPECT_EQ(loads->dropped(), 0u);
}

// Other threads wait for the loader lock while a stack is copied.
TEST_F(ImageLoadsTest, AVeryLargeStackIsCut) {
  const auto loads = watch();
  const UniqueHandle thread(CreateThread(
      nullptr, 16 << 20,
      [](void*) -> DWORD {
        load_below(6 << 20, 'x');
        return 0;
      },
      nullptr, STACK_SIZE_PARAM_IS_A_RESERVATION, nullptr));
  ASSERT_EQ(WaitForSingleObject(thread.get(), 60'000), WAIT_OBJECT_0);
  const ImageLoad* const load = loads->front();
  ASSERT_NE(load, nullptr);
  EXPECT_EQ(loads->stack(*load).size(), std::size_t{2} << 20);
  EXPECT_GT(load->stack_end - load->registers.rsp(), std::uint64_t{6} << 20);
}

TEST(ModuleNameFilter, WithAndWithoutItsEndingInAnyCase) {
  for (const char* const wanted : {"orders", "Orders", "ORDERS.dll", "orders.DLL"}) {
    const ModuleNameFilter filter{std::string_view(wanted)};
    for (const wchar_t* const name : {L"orders", L"orders.dll", L"Orders.Dll"}) {
      EXPECT_TRUE(filter.matches(name)) << wanted;
    }
    for (const wchar_t* const name : {L"", L".dll", L"order.dll", L"orders.exe", L"my.orders.dll",
                                      L"orders.dll.dll", L"orders.native.dll"}) {
      EXPECT_FALSE(filter.matches(name)) << wanted;
    }
  }
  EXPECT_TRUE(ModuleNameFilter("Bestell\u00DCng").matches(L"bestell\u00FCng.dll"));
  EXPECT_TRUE(ModuleNameFilter("System.Text.Json").matches(L"System.Text.Json.dll"));
  EXPECT_FALSE(ModuleNameFilter("System.Text").matches(L"System.Text.Json.dll"));
  EXPECT_TRUE(ModuleNameFilter().matches(L"any.dll"));
  EXPECT_TRUE(ModuleNameFilter("").matches(L""));
}

}  // namespace
}  // namespace mixwalk
