#include "walker/session/win/patched_calls_of.h"

#include <gtest/gtest.h>
#include <windows.h>
#include <winternl.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/win/child_process.h"
#include "tests/support/win/remote_jump.h"

namespace mixwalk {
namespace {

// A program that waits, and whose memory the test writes.
class PatchedCallsOf : public testing::Test {
 protected:
  void SetUp() override {
    waits_.write_line("echo ready");
    while (waits_.read_line().value_or("ready") != "ready") {
    }
  }

  template <typename T>
  T get(const void* at) const {
    T value{};
    EXPECT_TRUE(ReadProcessMemory(waits_.handle(), at, &value, sizeof value, nullptr)) << GetLastError();
    return value;
  }
  template <typename T>
  void put(const void* at, const T& value) const {
    EXPECT_TRUE(WriteProcessMemory(waits_.handle(), const_cast<void*>(at), &value, sizeof value, nullptr))
        << GetLastError();
  }
  // The loader's list of images: in the order of loading, and, 16 bytes behind it, in that of memory.
  const char* list() const {
    PROCESS_BASIC_INFORMATION info{};
    NtQueryInformationProcess(waits_.handle(), ProcessBasicInformation, &info, sizeof info, nullptr);
    const auto* const block = reinterpret_cast<const char*>(info.PebBaseAddress);
    return get<const char*>(block + offsetof(PEB, Ldr)) + offsetof(PEB_LDR_DATA, InMemoryOrderModuleList) -
           sizeof(LIST_ENTRY);
  }
  std::vector<PatchedCall> found() const {
    const auto calls = patched_calls_of(waits_.id());
    EXPECT_TRUE(calls);
    return calls ? *calls : std::vector<PatchedCall>();
  }
  void jump(const void* at, const void* to) const {
    EXPECT_TRUE(write_jump(waits_.handle(), at, to)) << GetLastError();
  }
  const void* stub() const {
    return reinterpret_cast<const void*>(GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "NtSetTimer"));
  }
  // Where kernel32.dll is, also in the program.
  const void* other_image() const { return reinterpret_cast<const char*>(GetModuleHandleW(L"kernel32.dll")) + 0x1000; }

  ChildProcess waits_{{"C:\\windows\\system32\\cmd.exe", "/q", "/k", "prompt $S"}};
};

TEST_F(PatchedCallsOf, LeadToAnImageOfTheProcess) {
  EXPECT_EQ(found(), std::vector<PatchedCall>());
  jump(stub(), other_image());
  const auto calls = found();
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls.front().name, "NtSetTimer");
  EXPECT_TRUE(calls.front().image.ends_with("kernel32.dll")) << calls.front().image;
}

// The second entry of either list leads to itself, so no walk comes back to the list's begin.
TEST_F(PatchedCallsOf, AreFoundThoughTheListOfImagesHasNoEnd) {
  jump(stub(), other_image());
  for (const char* head : {list(), list() + sizeof(LIST_ENTRY)}) {
    auto* const entry = get<LIST_ENTRY>(get<LIST_ENTRY>(head).Flink).Flink;
    put(&entry->Flink, entry);
  }
  EXPECT_EQ(found(), (std::vector<PatchedCall>{{"NtSetTimer", ""}}));
}

// On Windows, a read of the page would remove its guard.
TEST_F(PatchedCallsOf, AreNotFollowedIntoAGuardPage) {
  void* const page = VirtualAllocEx(waits_.handle(), nullptr, 4096, MEM_COMMIT | MEM_RESERVE, PAGE_EXECUTE_READWRITE);
  jump(page, other_image());
  jump(stub(), page);
  EXPECT_NE(found(), (std::vector<PatchedCall>{{"NtSetTimer", ""}}));
  DWORD before = 0;
  ASSERT_TRUE(VirtualProtectEx(waits_.handle(), page, 4096, PAGE_EXECUTE_READ | PAGE_GUARD, &before));
  EXPECT_EQ(found(), (std::vector<PatchedCall>{{"NtSetTimer", ""}}));
}

}  // namespace
}  // namespace mixwalk
