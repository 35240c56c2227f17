#include "walker/session/patched_calls.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/builders/paged_memory.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kNtdll = 0x7ff8'0000'0000, kTrampoline = 0x7ff8'1000'0000, kWatcher = 0x7ff9'0000'0000,
                        kOther = 0x7ffa'0000'0000;
constexpr std::uint64_t kImageBytes = 0x10'0000;
// The stubs of two calls.
constexpr std::uint64_t kResume = kNtdll + 0x1000, kContext = kNtdll + 0x1020;

class PatchedCalls : public testing::Test {
 protected:
  PatchedCalls() {
    for (const std::uint64_t stub : {kResume, kContext}) {
      put(stub, {0x4c, 0x8b, 0xd1, 0xb8, 0x52, 0x00, 0x00, 0x00, 0xf6, 0x04, 0x25, 0x08,
                 0x03, 0xfe, 0x7f, 0x01, 0x75, 0x03, 0x0f, 0x05, 0xc3, 0xcd, 0x2e, 0xc3});
    }
    put(kTrampoline, {0});
  }

  void put(std::uint64_t address, const std::vector<std::uint8_t>& bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) memory_.put(address + i, bytes[i]);
  }
  // Puts jmp [rip + 0], with the address behind it.
  void put_jump(std::uint64_t at, std::uint64_t to) {
    put(at, {0xff, 0x25, 0x00, 0x00, 0x00, 0x00});
    memory_.put(at + 6, to);
  }
  // Puts jmp rel32.
  void put_near_jump(std::uint64_t at, std::uint64_t to) {
    put(at, {0xe9});
    memory_.put(at + 1, static_cast<std::int32_t>(to - at - 5));
  }
  std::vector<PatchedCall> find() const {
    return find_patched_calls(
        memory_, {.stub_of =
                      [](const char* name) -> std::uint64_t {
                        const std::string text = name;
                        return text == "NtResumeThread" ? kResume : text == "NtGetContextThread" ? kContext : 0;
                      },
                  .image_at = [](std::uint64_t address) -> std::string {
                    if (address - kNtdll < kImageBytes) return "C:\\Windows\\System32\\ntdll.dll";
                    if (address - kWatcher < kImageBytes) return "C:\\Watcher\\watcher.dll";
                    if (address - kOther < kImageBytes) return "C:\\Other\\other.dll";
                    return {};
                  }});
  }

  test::PagedMemory memory_;
};

TEST_F(PatchedCalls, NoneIfTheStubsAreThoseOfTheSystem) { EXPECT_EQ(find(), std::vector<PatchedCall>()); }

TEST_F(PatchedCalls, ByAJumpIntoAnImage) {
  put_jump(kResume, kWatcher + 0x500);
  EXPECT_EQ(find(), (std::vector<PatchedCall>{{"NtResumeThread", "C:\\Watcher\\watcher.dll"}}));
}

TEST_F(PatchedCalls, ByATrampolineNearTheSystemsImage) {
  put_near_jump(kContext, kTrampoline);
  put_jump(kTrampoline, kWatcher + 0x500);
  EXPECT_EQ(find(), (std::vector<PatchedCall>{{"NtGetContextThread", "C:\\Watcher\\watcher.dll"}}));
}

TEST_F(PatchedCalls, BehindTheFirstInstructions) {
  put_near_jump(kContext + 3, kTrampoline);
  put_jump(kTrampoline, kWatcher);
  put_near_jump(kResume + 8, kTrampoline);
  EXPECT_EQ(find(), (std::vector<PatchedCall>{{"NtGetContextThread", "C:\\Watcher\\watcher.dll"},
                                              {"NtResumeThread", "C:\\Watcher\\watcher.dll"}}));
}

// A breakpoint, a jump to code of no image, and jumps that lead to each other.
TEST_F(PatchedCalls, ThatLeadToNoKnownImage) {
  put(kContext, {0xcc});
  put_near_jump(kResume, kTrampoline);
  EXPECT_EQ(find(), (std::vector<PatchedCall>{{"NtGetContextThread", ""}, {"NtResumeThread", ""}}));
  put_jump(kTrampoline, kResume);
  EXPECT_EQ(find(), (std::vector<PatchedCall>{{"NtGetContextThread", ""}, {"NtResumeThread", ""}}));
}

TEST_F(PatchedCalls, AStubThatCannotBeReadIsNotPatched) {
  const auto found = find_patched_calls(memory_, {.stub_of = [](const char*) { return kOther; },
                                                  .image_at = [](std::uint64_t) { return std::string(); }});
  EXPECT_EQ(found, std::vector<PatchedCall>());
}

TEST(PatchedCallsText, OneImageAndSeveral) {
  EXPECT_EQ(patched_calls_text(std::vector<PatchedCall>{{"NtResumeThread", "C:\\w.dll"}}),
            "other software has patched system calls of the process: NtResumeThread leads to C:\\w.dll");
  EXPECT_EQ(patched_calls_text(std::vector<PatchedCall>{
                {"A", "C:\\w.dll"}, {"B", ""}, {"C", "C:\\w.dll"}, {"D", "C:\\w.dll"}}),
            "other software has patched system calls of the process: A, C and D lead to C:\\w.dll; B leads to unknown "
            "code");
  EXPECT_EQ(patched_calls_text({}), "other software has patched system calls of the process");
}

}  // namespace
}  // namespace mixwalk
