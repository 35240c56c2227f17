#include "walker/target/win/live_target.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/support/win/child_process.h"
#include "tests/support/win/wine.h"
#include "unmanaged/ascii_lower.h"
#include "walker/base/win/file_time.h"

namespace mixwalk {
namespace {

const Module* find(const Target& target, const std::string& name) {
  const auto found = std::ranges::find_if(
      target.modules(), [&](const Module& module) { return ascii_lower(module_name(module)) == name; });
  return found == target.modules().end() ? nullptr : &*found;
}

class HangFromOutside : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(hang_.read_line().value_or("").starts_with("READY"));
    auto opened = LiveTarget::open(hang_.id());
    ASSERT_TRUE(opened) << opened.failure().message;
    target_ = std::move(*opened);
  }
  ChildProcess hang_{{fixture("hang.exe")}};
  std::unique_ptr<LiveTarget> target_;
};

TEST_F(HangFromOutside, ItsImagesThreadsAndNames) {
  EXPECT_EQ(target_->process().id, hang_.id());
  EXPECT_TRUE(target_->process().path.ends_with("hang.exe")) << target_->process().path;
  EXPECT_NE(target_->process().command_line.find("hang.exe"), std::string::npos);
  for (const char* name : {"hang.exe", "ntdll.dll", "coreclr.dll", "system.private.corelib.dll"}) {
    const Module* module = find(*target_, name);
    ASSERT_NE(module, nullptr) << name;
    EXPECT_NE(module->size, 0u) << name;
    EXPECT_TRUE(target_->outside().kind(module->base) != MemoryKind::nothing) << name;
    EXPECT_TRUE(target_->outside().is_image(module->base)) << name;
  }
  EXPECT_FALSE(target_->outside().is_image(target_->threads().front().teb));
  EXPECT_TRUE(std::ranges::is_sorted(target_->modules(), {}, &Module::base));
  for (const char* name : {"deadlock 1", "native wait", "sleep", "deep"}) {
    EXPECT_TRUE(std::ranges::any_of(target_->threads(), [&](const auto& thread) { return thread.name == name; }))
        << name;
  }
}

// The list of all threads has the times that the system gives for each of them.
TEST_F(HangFromOutside, TheTimesOfItsThreads) {
  for (const TargetThread& thread : target_->threads()) {
    const UniqueHandle handle(OpenThread(THREAD_QUERY_INFORMATION, FALSE, thread.os_id));
    FILETIME created, ended, kernel, user;
    ASSERT_TRUE(GetThreadTimes(handle.get(), &created, &ended, &kernel, &user)) << thread.os_id;
    EXPECT_EQ(thread.created, ticks_of(created)) << thread.name;
    // Since the list was read, the thread may have run.
    EXPECT_LE(thread.cpu, ticks_of(kernel) + ticks_of(user)) << thread.name;
  }
  EXPECT_TRUE(std::ranges::any_of(target_->threads(), [](const TargetThread& thread) { return thread.cpu > 0; }));
}

TEST_F(HangFromOutside, ItsThreadsWithoutNames) {
  const auto target = LiveTarget::open(hang_.id(), false);
  ASSERT_TRUE(target);
  EXPECT_EQ((*target)->threads().size(), target_->threads().size());
  for (const TargetThread& thread : (*target)->threads()) EXPECT_EQ(thread.name, "");
}

TEST_F(HangFromOutside, StacksOfAllThreadsAreTakenAndAllRunOn) {
  std::vector<std::byte> stack(8 << 20);
  std::vector<ManagedEntry> entries(1);
  for (const TargetThread& thread : target_->threads()) {
    RawSample sample(stack, entries);
    target_->capture(thread, sample);
    EXPECT_EQ(sample.fault, CaptureFault::none) << thread.os_id << ' ' << thread.name;
    EXPECT_FALSE(sample.stack.cut()) << thread.name;
    EXPECT_GE(sample.stack.end() - sample.stack.begin(), 256u) << thread.name;
    // The next program that suspends the thread must find that no other has suspended it.
    const UniqueHandle handle(OpenThread(THREAD_SUSPEND_RESUME, FALSE, thread.os_id));
    ASSERT_TRUE(handle);
    EXPECT_EQ(SuspendThread(handle.get()), 0u) << thread.name;
    ResumeThread(handle.get());
  }
  hang_.write_line("STOP");
  EXPECT_EQ(hang_.wait(20'000), 0u);
}

TEST(LiveTarget, ProcessThatIsNot) {
  const auto none = LiveTarget::open(0xFFFF'FFF0);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.failure().code, ExitCode::no_process);
}

TEST(LiveTarget, ProcessOf32Bits) {
  MIXWALK_NEEDS_32_BIT_CODE();
  ChildProcess small({fixture("sleeper32.exe")});
  const auto refused = LiveTarget::open(small.id());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.failure().code, ExitCode::wrong_bitness);
}

// One of two libraries is always loaded, and is before the other one or behind it in the loader's list.
TEST(LiveTarget, ImagesThatComeAndGoHideNoOthers) {
  std::atomic<bool> stop = false;
  std::thread churn([&stop, first = LoadLibraryW(L"version.dll")]() mutable {
    while (!stop) {
      const HMODULE second = LoadLibraryW(L"msimg32.dll");
      FreeLibrary(first);
      first = LoadLibraryW(L"version.dll");
      FreeLibrary(second);
    }
    FreeLibrary(first);
  });
  constexpr int kReadings = 60;
  int without = 0;
  for (int i = 0; i < kReadings; ++i) {
    const auto target = LiveTarget::open(GetCurrentProcessId());
    ASSERT_TRUE(target);
    without += find(**target, "version.dll") == nullptr && find(**target, "msimg32.dll") == nullptr;
  }
  stop = true;
  churn.join();
  EXPECT_EQ(without, 0) << "of " << kReadings;
}

// The test reads its own process, because the test knows the addresses of its own data.
TEST(RemoteMemoryTest, GuardedAndClosedPagesAreNotRead) {
  auto* const pages = static_cast<char*>(VirtualAlloc(nullptr, 4 * 4096, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE));
  ASSERT_NE(pages, nullptr);
  std::memset(pages, 7, 4 * 4096);
  DWORD before = 0;
  VirtualProtect(pages + 4096, 4096, PAGE_READWRITE | PAGE_GUARD, &before);
  VirtualProtect(pages + 3 * 4096, 4096, PAGE_NOACCESS, &before);
  const auto at = reinterpret_cast<std::uint64_t>(pages);
  RemoteMemory memory(GetCurrentProcess());
  char byte = 0;
  EXPECT_TRUE(memory.read(at + 4095, &byte, 1));
  EXPECT_EQ(byte, 7);
  EXPECT_FALSE(memory.read(at + 4096, &byte, 1));
  EXPECT_TRUE(memory.read(at + 2 * 4096, &byte, 1));
  EXPECT_FALSE(memory.read(at + 3 * 4096, &byte, 1));
  char two[2];
  EXPECT_FALSE(memory.read(at + 4095, two, 2));
  EXPECT_EQ(memory.plain_bytes(at, 4 * 4096), 4096u);
  EXPECT_EQ(memory.kind(at + 4096), MemoryKind::nothing);
  EXPECT_EQ(memory.kind(at), MemoryKind::data);
  EXPECT_FALSE(memory.read(~0ull - 3, two, 2));
  MEMORY_BASIC_INFORMATION info;
  VirtualQuery(pages + 4096, &info, sizeof info);
  EXPECT_NE(info.Protect & PAGE_GUARD, 0u);  // no access has removed the guard
  // Changes are visible after drop().
  VirtualProtect(pages + 3 * 4096, 4096, PAGE_READONLY, &before);
  EXPECT_FALSE(memory.read(at + 3 * 4096, &byte, 1));
  memory.drop();
  EXPECT_TRUE(memory.read(at + 3 * 4096, &byte, 1));
  VirtualFree(pages, 0, MEM_RELEASE);
}

}  // namespace
}  // namespace mixwalk
